"""Graphs over named nodes; this room knows no data. An arc is directed, an edge is not.

`dag` and `pdag` are the values. Each question about them has a file (separation, equivalence,
enumeration, size), and so has the way out (export) and each generator of random DAGs (generators).
`knowledge` is what the user knows of a graph.
"""
