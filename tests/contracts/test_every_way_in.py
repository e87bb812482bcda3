"""Every kind of table, in every function that takes data: the answer is that for the Dataset."""

import gzip
import inspect
import io
import json
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bestdag as bd
from bestdag.classification.uncut import read_uncut
from bestdag.data.describe import read_described
from bestdag.data.readers import read_rows
from bestdag.errors import InvalidParameterError

N = 80
_draw = np.random.default_rng(7)
_RAIN = _draw.choice(["no", "yes"], N).tolist()
_WET = [r if _draw.random() < 0.8 else "no" for r in _RAIN]
TABLE = {"rain": _RAIN, "size": _draw.integers(1, 4, N).tolist(), "wet": _WET}
DATA = bd.read(TABLE)
DAG = bd.Dag(["rain", "size", "wet"], [("rain", "wet")])
NETWORK = bd.fit_network(DAG, DATA)
CODES = np.array([[TABLE["size"][i], i % 2, int(w == "yes")] for i, w in enumerate(_WET)])


def _csv(folder, name="rows.csv"):
    path = folder / name
    pd.DataFrame(TABLE).to_csv(path, index=False)
    return path


def _compressed(folder):
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(_csv(folder).read_bytes()))
    return path


def _parquet(folder):
    pq.write_table(pa.table(TABLE), folder / "rows.parquet")
    return folder / "rows.parquet"


def _json_lines(folder):
    rows = (dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True))
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "rows.jsonl"


def _workbook(folder):
    pd.DataFrame(TABLE).to_excel(folder / "rows.xlsx", index=False)
    return folder / "rows.xlsx"


def _structured(folder):
    rows = list(zip(*TABLE.values(), strict=True))
    return np.array(rows, dtype=[("rain", "U3"), ("size", "i4"), ("wet", "U3")])


def _connection():
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.register("frame", pa.table(TABLE))
    con.execute("CREATE TABLE t AS FROM frame")
    con.unregister("frame")
    return con


# Tables that are files, or that DuckDB holds.
SCANNED = {
    "path": _csv,
    "path as text": lambda folder: str(_csv(folder)),
    "compressed": _compressed,
    "parquet": _parquet,
    "json lines": _json_lines,
    "workbook": _workbook,
    "text stream": lambda folder: io.StringIO(_csv(folder).read_text()),
    "byte stream": lambda folder: io.BytesIO(_csv(folder).read_bytes()),
    "relation": lambda folder: _connection().sql("FROM t"),
    "connection": lambda folder: _connection(),
    "sql": lambda folder: bd.sql(f"SELECT * FROM '{_parquet(folder)}'"),
    "sql on a connection": lambda folder: bd.sql("FROM t", _connection()),
}
IN_MEMORY = {
    "dict of lists": lambda folder: dict(TABLE),
    "dict of arrays": lambda folder: {name: np.array(column) for name, column in TABLE.items()},
    "pandas": lambda folder: pd.DataFrame(TABLE),
    "pandas with an index": lambda folder: pd.DataFrame(TABLE, index=range(100, 100 + N)),
    "pandas categorical": lambda folder: pd.DataFrame(TABLE).astype("category"),
    "pandas nullable": lambda folder: pd.DataFrame(TABLE).convert_dtypes(),
    "polars": lambda folder: pl.DataFrame(TABLE),
    "lazy polars": lambda folder: pl.LazyFrame(TABLE),
    "arrow": lambda folder: pa.table(TABLE),
    "arrow batch": lambda folder: pa.RecordBatch.from_pydict(TABLE),
    "arrow reader": lambda folder: pa.table(TABLE).to_reader(),
    "structured array": _structured,
    "records": lambda folder: pd.DataFrame(TABLE).to_records(index=False),
}
SOURCES = SCANNED | IN_MEMORY | {"Dataset": lambda folder: DATA}

# Every function that takes data, and what of its answer is compared.
ANSWERS = {
    "read": lambda data: bd.read(data),
    "read_rows": lambda data: read_rows(data).dataset,
    "discretize": lambda data: bd.discretize(data, method="quantile"),
    "describe": lambda data: read_described(data),
    "classify": lambda data: _uncut(read_uncut(data, target="wet")),
    "learn": lambda data: _learned(bd.learn(data)),
    "learn.network": lambda data: bd.learn(data, "bic").fit(),
    "learn em": lambda data: _learned(bd.learn(data, missing="em")),
    "learn within pc": lambda data: _learned(bd.learn(data, skeleton="pc")),
    "bootstrap": lambda data: bd.bootstrap(data, "bic", replicates=3).edges(),
    "posterior": lambda data: bd.posterior(data).edges(),
    "pc": lambda data: bd.pc(data).pdag,
    "cross_validate": lambda data: bd.cross_validate(data, ["bic"], "exact", k=2).best.log_loss,
    "learning_curve": lambda data: str(bd.learning_curve(data, "bic", "exact", sizes=[20])),
    "saturation": lambda data: str(bd.saturation(data, search="exact", sizes=[40, 80])),
    "ess_grid": lambda data: [p.dag for p in bd.ess_grid(data, [1, 10]).points],
    "ess_grid test": lambda data: [
        p.test_log_loss for p in bd.ess_grid(DATA, [1], test=data).points
    ],
    "Scorer": lambda data: bd.Scorer(data, "bdeu").total(DAG),
    "Scorer available": lambda data: bd.Scorer(data, "bic", missing="available").total(DAG),
    "sensitivity": lambda data: bd.sensitivity(DAG, data),
    "independence_test": lambda data: bd.independence_test(data, "rain", "wet"),
    "mutual information": lambda data: bd.conditional_mutual_information(data, "rain", "wet"),
    "distance_score": lambda data: bd.distance_score(DAG, data),
    "fit_network": lambda data: bd.fit_network(DAG, data),
    "fit_network again": lambda data: bd.fit_network(NETWORK, data),
    "run_em": lambda data: bd.run_em(DAG, data).network,
    "expected_scorer": lambda data: bd.expected_scorer(NETWORK, data).total(DAG),
    "observed_score": lambda data: bd.observed_score(DAG, data).score,
    "average_networks": lambda data: (
        bd.average_networks(bd.posterior(DATA, method="sampling", samples=20), data).networks
    ),
    "evaluate_network": lambda data: bd.evaluate_network(NETWORK, data),
    "Network.log_probability": lambda data: NETWORK.log_probability(data).tolist(),
    "Network.log_loss": lambda data: NETWORK.log_loss(data),
    "Network.predict": lambda data: NETWORK.predict("wet", data).tolist(),
    "Network.predict_proba": lambda data: NETWORK.predict_proba("wet", data).tolist(),
    "Network.predict_log_proba": lambda data: NETWORK.predict_log_proba("wet", data).tolist(),
    "Network.impute": lambda data: NETWORK.impute(data),
    "CompiledNetwork.log_probability": lambda data: (
        NETWORK.compile().log_probability(data).tolist()
    ),
}
# What takes no table though its parameter is called as if; and `scan`, which has its own test.
NO_TABLE = {"Conflict", "Distribution", "PCResult", "Result", "augmented", "scan"}


def _learned(result):
    return result.dag, result.score, result.status, result.dataset


def _uncut(table):
    # Whole numbers are states or are cut later, by what the source declares; the rest is the same.
    return table.names, table.dataset.select(["rain", "wet"])


@pytest.fixture(scope="module")
def expected():
    answers = {}

    def of(name):
        if name not in answers:
            answers[name] = ANSWERS[name](DATA)
        return answers[name]

    return of


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", ANSWERS)
def test_every_kind_of_table_gives_the_answer_of_the_dataset(name, kind, tmp_path, expected):
    assert ANSWERS[name](SOURCES[kind](tmp_path)) == expected(name)


@pytest.mark.parametrize("kind", SCANNED)
def test_scan_takes_whatever_is_not_in_memory(kind, tmp_path):
    assert bd.scan(SCANNED[kind](tmp_path)) == DATA


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_scan_refuses_what_is_in_memory_and_says_what_reads_it(kind, tmp_path):
    with pytest.raises(InvalidParameterError, match="is in memory already; use read"):
        bd.scan(IN_MEMORY[kind](tmp_path))


@pytest.mark.parametrize("name", ["read", "learn", "bootstrap", "pc", "discretize", "Scorer"])
def test_a_plain_array_is_a_table_whose_columns_are_numbered(name):
    take = {
        "bootstrap": lambda data: bd.bootstrap(data, "bic", replicates=3).edges(),
        "Scorer": lambda data: bd.Scorer(data, "bic").total(bd.Dag(["0", "1", "2"], [("0", "2")])),
    }.get(name, ANSWERS[name])
    named = {str(i): CODES[:, i] for i in range(3)}
    assert take(CODES) == take(named) == take(pd.DataFrame(CODES)) == take(bd.read(named))


def test_no_public_function_with_data_is_left_out():
    words = {"data", "dataset", "source"}
    taking = set()
    for name in bd.__all__:
        value = getattr(bd, name)
        if inspect.isfunction(value) and words & set(inspect.signature(value).parameters):
            taking.add(name)
    named = {name.partition(" ")[0] for name in ANSWERS} | {"conditional_mutual_information"}
    assert taking - named - NO_TABLE == set()


def test_no_warning_is_made_by_any_kind(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in SOURCES.values():
            bd.read(make(tmp_path))
