"""Dynamic programming over subsets of the variables."""
