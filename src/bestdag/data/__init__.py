"""From a table to a `Dataset`: source, encoder, sink; a module may import those below it here.

describe, discretize      what is in a table that `read` refuses; `discretize`
readers                   `read`, for learning and for known variables, too: the one way in
sinks, cutting            memory makes a `Dataset`, disk a `Scan`; which numbers are cut, and how
table                     a source with the settings it is read with
encoder                   from distinct values to codes: `plan`, `encode_rows`, `resolve_missing`
settings, missing         settings of `read`, checked; strategies for missing values
warnings                  what is said of values
sources                   base says what a source is, a file for each kind; connection is DuckDB
labels, discretization    from values to texts and their order; methods that make cut points
dataset, output, checks   `Dataset`, how it leaves and is printed, its checks
schema                    `Variable`
"""
