"""Dynamic programming over few subsets, guided by duals, with certificates."""
