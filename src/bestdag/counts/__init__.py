"""Counts of families."""
