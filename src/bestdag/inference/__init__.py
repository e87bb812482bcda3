"""Answers from conditional tables given as arrays."""
