"""Exact search: engines that find a best graph over a score table and prove it."""
