"""Dynamic programming over subsets on a GPU."""
