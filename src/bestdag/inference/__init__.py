"""Answers from a network's tables."""
