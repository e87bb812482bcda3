"""Runs that survive: what a long run has found, in a file, and going on from it."""

from bestdag.checkpoint.description import describe
from bestdag.checkpoint.run import Checkpoint, RunState

__all__ = ["Checkpoint", "RunState", "describe"]
