"""What the functions that people call promise: few parameters, and one name for one thing."""

import inspect

import pytest

import bestdag as bd

# What has the same default everywhere, and is given by name. `pc` is not asked for structures next
# to the best, and counts with threads alone; a saturation limits parents unless told otherwise.
SAME = {
    "checkpoint": None,
    "discretize": None,
    "knowledge": None,
    "max_parents": None,
    "near_optimal": None,
    "seed": 0,
    "structure_prior": None,
    "support": bd.learn.__kwdefaults__["support"],
    "threads": None,
    "time_limit": None,
    "workers": None,
}
OTHER_DEFAULTS = {("saturation", "max_parents")}
# Scores that are asked for one by one have a prior by place.
BY_PLACE = {(name, "structure_prior") for name in ("expected_scorer", "observed_score")}
# What the same things have been called, here and elsewhere.
OTHER_NAMES = {
    *("dataset", "df", "table", "n_jobs", "n_threads", "executor", "cluster", "client", "resume"),
    *("random_state", "rng", "timeout", "budget", "max_time", "callback_progress", "progress"),
    *("k_best", "top_k", "near_best", "within", "per_class", "estimator", "prior_structure"),
    *("max_indegree", "constraints", "verbose", "quiet", "every"),
}


def functions():
    for name in bd.__all__:
        thing = getattr(bd, name)
        if callable(thing) and not isinstance(thing, type):
            yield name, inspect.signature(thing).parameters


FUNCTIONS = dict(functions())


def test_learn_has_at_most_fourteen_parameters():
    assert len(FUNCTIONS["learn"]) <= 14


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_thing_has_one_name_and_one_default(name):
    parameters = FUNCTIONS[name]
    assert not OTHER_NAMES & parameters.keys()
    for shared in SAME.keys() & parameters.keys():
        if (name, shared) not in OTHER_DEFAULTS:
            assert parameters[shared].default == SAME[shared], shared
        if (name, shared) not in BY_PLACE:
            assert parameters[shared].kind is inspect.Parameter.KEYWORD_ONLY, shared


@pytest.mark.parametrize("shared", SAME)
def test_one_name_has_one_type(shared):
    types = {
        parameters[shared].annotation
        for name, parameters in FUNCTIONS.items()
        if shared in parameters and name != "learn"
    }
    assert len(types) <= 1
    if shared in FUNCTIONS["learn"]:  # which also takes a cluster that holds the rows
        types.add(FUNCTIONS["learn"][shared].annotation)
    narrow, *wider = sorted((set(one.split(" | ")) for one in types), key=len)
    assert all(narrow <= other for other in wider)


@pytest.mark.parametrize("name", [name for name, given in FUNCTIONS.items() if "data" in given])
def test_data_come_first_or_after_what_they_are_for(name):
    before = list(FUNCTIONS[name])[: list(FUNCTIONS[name]).index("data")]
    assert before in (
        [],
        *([one] for one in ("structure", "dag", "network", "structures", "certificate")),
    )


def test_who_works_is_asked_for_where_work_is_divided_and_threads_elsewhere():
    assert not [name for name, given in FUNCTIONS.items() if {"workers", "threads"} <= given.keys()]
