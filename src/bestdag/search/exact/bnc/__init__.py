"""Branch and cut and price, with certificates."""
