"""Statements that no single family decides, above the engines."""
