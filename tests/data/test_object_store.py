"""Files elsewhere: what DuckDB fetches is the table that lies here; what it lacks is said."""

import os
import re
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import duckdb
import pytest

from bestdag import learn, read, scan, sql
from bestdag.cli.main import run
from bestdag.data.sources import connection as duck_connection
from bestdag.errors import DataError
from bestdag.examples import example

S3_SETTINGS = {
    "AWS_ACCESS_KEY_ID": "somebody",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture
def parts(tmp_path):
    """Some rows in two parts, in folders by year."""
    for year, some in ((2020, "LIMIT 1200"), (2021, "OFFSET 1200")):
        folder = tmp_path / "rows" / f"year={year}"
        folder.mkdir(parents=True)
        rows = f"SELECT * FROM read_csv('{example('asia.csv')}', all_varchar = true) {some}"
        duckdb.sql(f"COPY ({rows}) TO '{folder / 'part.parquet'}'")
    return tmp_path / "rows"


def needs_httpfs():
    with duckdb.connect() as con:
        try:
            con.execute("LOAD httpfs")
        except duckdb.Error:
            pytest.skip("DuckDB's extension httpfs is not installed")


class Ranges(SimpleHTTPRequestHandler):
    """Files of a folder, with ranges of bytes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            content = file.read()
        first, last = 0, len(content) - 1
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            first, last = int(asked[1]), min(int(asked[2] or last), last)
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last + 1 - first))
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[first : last + 1])

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def site(parts):
    """The address of a web server for the parts."""
    needs_httpfs()
    handler = partial(Ranges, directory=str(parts))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def bucket(parts, tmp_path, monkeypatch):
    """A bucket with the parts, in a stand-in for the object store."""
    needs_httpfs()
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    import boto3

    for name, value in S3_SETTINGS.items():
        monkeypatch.setenv(name, value)
    server = moto.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    store = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
    store.create_bucket(Bucket="shop")
    for path in parts.rglob("*.parquet"):
        store.upload_file(str(path), "shop", f"rows/{path.relative_to(parts)}")
    secrets = {"secret_directory": str(tmp_path / "secrets")}
    monkeypatch.setattr(duck_connection, "resource_settings", lambda: secrets)
    with duckdb.connect(config=secrets) as con:
        con.execute(
            f"CREATE PERSISTENT SECRET (TYPE s3, KEY_ID 'somebody', SECRET 'secret', "
            f"ENDPOINT '{host}:{port}', URL_STYLE 'path', USE_SSL false)"
        )
    yield "s3://shop/rows"
    server.stop()


@pytest.mark.slow
def test_a_file_of_a_web_server_is_the_file(site, parts, tmp_path):
    here, there = parts / "year=2020/part.parquet", f"{site}/year=2020/part.parquet"
    expected = read(here)
    assert expected.n_rows == 1200
    assert read(there) == expected
    cache = tmp_path / "cache"
    rows = scan(there, cache=cache, memory_limit="200 MB")
    assert rows == expected
    assert os.listdir(cache) == []  # nobody knows whether it will be the same again
    shutil.copy(parts / "year=2021/part.parquet", here)
    assert scan(there, cache=cache).n_rows == 800
    with pytest.raises(DataError, match=r"^read: 'http://.*/none.parquet' cannot be read: [^\n]*$"):
        read(f"{site}/none.parquet")


@pytest.mark.slow
def test_a_pattern_in_an_object_store_is_one_table(bucket, parts, capsys):
    for pattern in ("*/*.parquet", "year=2021/p*.parquet", "year=2020/part.parquet"):
        assert read(f"{bucket}/{pattern}") == read(f"{parts}/{pattern}")
    everything = read(f"{bucket}/**/*.parquet")
    assert everything == read(parts)
    assert everything.variable("year").states == ("2020", "2021")
    query = f"SELECT asia, tub FROM '{bucket}/*/*.parquet'"
    assert scan(sql(query)) == read(parts, columns=["asia", "tub"])
    assert run(["learn", f"{bucket}/*/*.parquet", "--rows-in", "disk", "--quiet", "--json"]) == 0
    assert f'"score": {learn(parts).score}' in capsys.readouterr().out
    with pytest.raises(
        DataError, match=r"^read: there is no file 's3://shop/rows/none-\*.parquet'"
    ):
        read(f"{bucket}/none-*.parquet")
    with pytest.raises(DataError, match=r"^read: 's3://shop/none.parquet' cannot be read: [^\n]*$"):
        read("s3://shop/none.parquet")


def test_a_connection_may_bring_its_own_file_system(parts):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    with duckdb.connect() as con:
        con.register_filesystem(store)
        for year in (2020, 2021):
            path = parts / f"year={year}/part.parquet"
            store.pipe_file(f"/shop/{year}.parquet", path.read_bytes())
        rows = scan(con, query="FROM read_parquet('memory://shop/*.parquet')")
        assert rows == read(parts / "*/*.parquet", drop="year")
    store.rm("/shop", recursive=True)


@pytest.mark.parametrize("source", ["s3://shop/*.parquet", sql("FROM 'https://shop/a.parquet'")])
def test_what_duckdb_lacks_is_said_in_one_line(source, tmp_path, monkeypatch):
    no_network = {
        "extension_directory": str(tmp_path),
        "custom_extension_repository": str(tmp_path / "none"),
    }
    monkeypatch.setattr(duck_connection, "resource_settings", lambda: no_network)
    with pytest.raises(DataError) as error:
        read(source)
    install = r"python -c \"import duckdb; duckdb.sql\('INSTALL httpfs'\)\""
    assert re.fullmatch(
        r"read: .*shop/.* cannot be read: DuckDB needs its extension httpfs for it, and has not "
        rf"got it; once, with a network: {install}",
        str(error.value),
    )


def test_no_other_files_are_fetched():
    with pytest.raises(DataError, match=r"'s3://shop/a.csv': from elsewhere Parquet files are"):
        read("s3://shop/a.csv")
