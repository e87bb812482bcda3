"""Rows on the workers of a Dask cluster; nothing here is imported without a cluster."""
