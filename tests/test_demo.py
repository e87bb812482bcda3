"""The demo that `make demo` runs: the commands, and where the report is."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse


def test_the_demo_writes_its_report_in_a_new_folder_of_the_user_and_says_where(tmp_path):
    said = [
        subprocess.run(
            [sys.executable, "-m", "bestdag.examples"],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    reports = [
        Path(unquote(urlparse(re.search(r"^Report: (.*)$", text, re.M)[1]).path)) for text in said
    ]
    assert reports[0].parent != reports[1].parent
    for text, report in zip(said, reports, strict=True):
        assert report.read_text().startswith("<!DOCTYPE html>")
        assert report.parent.stat().st_mode & 0o777 == 0o700
        assert f"--report {report}" in text
    assert {path.parent for path in reports} == {*tmp_path.iterdir()}
