"""The kinds of files that tables are read from, by the endings of their names."""

from __future__ import annotations

from pathlib import PurePath

__all__ = ["DELIMITERS", "EXCEL", "JSON", "NETWORKS", "PARQUET", "is_table", "table_name"]

DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
JSON = (".jsonl", ".ndjson")
EXCEL = (".xlsx", ".xlsm")
# Files that hold a network, which some take for its table.
NETWORKS = (".bif", ".dsc", ".json", ".net", ".uai", ".xdsl", ".xmlbif")


def table_name(source: object) -> str:
    """Return what a network that is learned from a table is called: as its file, if it has one.

    Examples
    --------
    >>> table_name("tables/heart.csv.gz"), table_name("rows/*.csv"), table_name({"a": ["x"]})
    ('heart', 'network', 'network')
    """
    if not isinstance(source, str | PurePath) or "*" in str(source):
        return "network"
    path = PurePath(source)
    if not is_table(path):
        return "network"
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem


def is_table(path: PurePath) -> bool:
    """Whether a name ends as that of a table.

    Examples
    --------
    >>> is_table(PurePath("rows.csv.gz")), is_table(PurePath("asia.bif"))
    (True, False)
    """
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return bare.suffix.lower() in (*DELIMITERS, *PARQUET, *JSON, *EXCEL)
