"""Outputs that are symbolic links: refused, and with --force written where they point."""

import pytest

from bestdag.examples import example

DATA, NET = example("asia.csv"), example("asia.bif")
OUTPUTS = {
    "learn": ("net.json", ["learn", DATA, "-o"]),
    "tree edges": ("edges.csv", ["tree", DATA, "--edge-weights"]),
    "learn report": ("page.html", ["learn", DATA, "--search", "tree", "--report"]),
    "fit": ("net.json", ["fit", DATA, NET, "-o"]),
    "convert": ("net.json", ["convert", NET]),
    "draw": ("net.svg", ["draw", NET, "-o"]),
    "random": ("net.bif", ["random", "-n", "4", "-o"]),
    "sample": ("rows.csv", ["sample", NET, "-n", "10", "-o"]),
    "predict": ("rows.csv", ["predict", NET, DATA, "--target", "lung", "-o"]),
    "impute": ("rows.csv", ["impute", DATA, NET, "-o"]),
    "discretize": ("rows.csv", ["discretize", DATA, "--method", "quantile", "-o"]),
    "score-table": ("scores.jkl", ["score-table", DATA, "--max-parents", "1", "-o"]),
    "compare": ("both.svg", ["compare", NET, NET, "--draw"]),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_link_is_not_written_through_unless_forced(cli, tmp_path, name):
    file, command = OUTPUTS[name]
    real, link = tmp_path / f"real-{file}", tmp_path / file
    real.write_text("mine")
    link.symlink_to(real)
    refused = cli(*command, link)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"{link} is a symbolic link to {real}; pass --force to replace that file" in refused.err
    assert real.read_text() == "mine"
    forced = cli(*command, link, "--force")
    assert forced.code == 0, forced.err
    assert link.is_symlink()
    assert real.read_bytes() not in (b"mine", b"")


def test_a_link_to_nothing_makes_no_file(cli, tmp_path):
    (tmp_path / "net.bif").symlink_to(tmp_path / "elsewhere.bif")
    assert cli("convert", NET, tmp_path / "net.bif").code == 2
    assert not (tmp_path / "elsewhere.bif").exists()
