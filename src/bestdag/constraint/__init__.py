"""Structures from tests of independence: the PC algorithm; this stage knows no scores."""
