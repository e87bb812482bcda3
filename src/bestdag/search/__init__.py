"""Searches: from local scores to the best graph they can find or prove."""
