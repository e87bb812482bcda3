"""Rows on the workers of a Dask cluster; nothing here is imported unless a cluster is asked for."""
