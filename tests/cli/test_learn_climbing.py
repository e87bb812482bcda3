"""`bestdag learn` with searches that prove nothing: their settings arrive, others are refused."""

import json

import pytest

from bestdag.examples import example

CSV = str(example("asia.csv"))


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["hill-climb", "--reinsert", "no", "--restarts", 2, "--perturb", 3], {"reinsert": False}),
        (["hill_climb", "--start", "tree", "--candidates", 4], {"start_from": "tree"}),
        (["tabu", "--length", 5, "--patience", 9], {"length": 5, "patience": 9}),
        (
            ["annealing", "--levels", 3, "--initial-temperature", 2],
            {"levels": 3, "initial_temperature": 2.0},
        ),
        (["k2", "--orders", 3], {"orders": 3}),
    ],
)
def test_settings_arrive(cli, arguments, settings):
    shown = cli("learn", CSV, "--score", "bic", "--json", "--search", *arguments)
    assert shown.code == 0
    result = json.loads(shown.out)
    assert result["status"] == "local optimum"
    assert result["bound"] is None
    assert settings.items() <= result["settings"].items()


def test_an_order_is_a_list_of_names(cli):
    order = "asia, smoke,tub,lung,bronc,either,xray,dysp"
    shown = cli("learn", CSV, "--search", "k2", "--order", order, "--json")
    result = json.loads(shown.out)
    assert result["settings"]["order"] == [name.strip() for name in order.split(",")]
    assert ["bronc", "dysp"] in result["arcs"]


def test_a_setting_of_another_search_is_refused(cli):
    shown = cli("learn", CSV, "--search", "tabu", "--restarts", 3)
    assert shown.code == 2
    assert "--restarts does not belong to the search tabu" in shown.err


def test_a_screen_is_said(cli):
    shown = cli("learn", CSV, "--search", "hill_climb", "--candidates", 2)
    assert "parents were chosen among the 2 best single ones" in shown.out
