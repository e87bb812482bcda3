"""Bayesian networks, and their files."""
