"""Greedy equivalence search."""
