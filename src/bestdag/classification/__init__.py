"""Classifiers: raw columns in, a network over their codes, probabilities of the classes out."""
