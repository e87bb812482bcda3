"""Counts of families: nothing here knows of scores."""
