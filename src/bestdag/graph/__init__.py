"""Graphs over named nodes; knows no data."""
