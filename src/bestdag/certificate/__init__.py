"""Certificates of optimality: what proves an answer, in a file that can be checked without us."""

from bestdag.certificate.file import OptimalityCertificate
from bestdag.certificate.verification import Verification, verify

__all__ = ["OptimalityCertificate", "Verification", "verify"]
