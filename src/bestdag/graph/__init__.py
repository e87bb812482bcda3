"""Graphs over named nodes; this stage knows no data."""
