"""The constants of the search over orders, in one table."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TUNING", "Tuning"]


class Tuning(NamedTuple):
    """What was measured to work; nothing depends on them but speed and how good structures are."""

    # With more variables tabu search takes too long for one round. Then variables are reinserted in
    # turns, and GES takes so many steps in one of three rounds until it ends. With fewer, GES ends
    # after so many steps for each variable: in denser classes steps take longer and longer.
    many_for_tabu: int = 200
    ges_steps: int = 200
    turn_of: int = 3
    ges_steps_per_variable: int = 6

    # Work of one round over orders, in nanoseconds by our count: a fraction of a second.
    work: float = 3e8
    work_per_variable: float = 1e6
    # To set up the search over orders, for each pair of variables, in seconds.
    seconds_per_pair: float = 1e-7
    # Bytes of scores that are remembered, and of the memory there is; when there are more, they are
    # forgotten and scored again.
    score_bytes: int = 1 << 29
    score_share: float = 0.25

    # This share of the variables is reinserted in a turn, again and again while each of them raises
    # the score by more than such a share on average. After that so many variables are reinserted in
    # one of three rounds; in one of nine, when that gained less than half of what the search over
    # orders did of late. Where it gains more than a third of that, which takes three times as long,
    # it has up to so many turns in a row.
    reinserted_share: float = 0.125
    steep: float = 4e-7
    reinserted: int = 50
    rare_turn_of: int = 9
    worth: float = 0.5
    turns_in_a_row: int = 4
    worth_more: float = 1 / 3

    # One round in so many lists small parent sets, until they are listed.
    list_every: int = 2
    # All sets up to this size of the promising parents are listed. Where there are more sets than
    # so many, they are first listed for the most promising parents.
    listed_size: int = 3
    many_sets: int = 2_000_000
    # Of a small set that is listed, here and in native code, and of the memory there is for them.
    bytes_per_set: int = 60
    set_share: float = 0.2
    # Without a native kernel a score takes so many times longer. Sets scored in one portion, times
    # rows (at least so many), take a fraction of a second.
    python_factor: int = 100
    sets_times_rows: float = 2.5e9
    least_rows: int = 4000

    # Rounds of the search among listed sets in one turn, for all and for each variable; and how
    # often it has a turn: every so many rounds, fewer after so many turns without success.
    listed_rounds: int = 1000
    listed_sets: int = (
        50_000  # with more sets than these a round takes longer, and a turn has fewer
    )
    listed_rounds_per_variable: int = 5
    listed_every: int = 2
    listed_seldom: int = 8
    many_failures: int = 3
    # With more variables half of the chains work among listed sets: they do not share what they
    # find in different corners of a large problem.
    many_for_chains: int = 100
    # In a file of local scores: turns for each round of patience, and rounds in all, times
    # variables, since a round takes longer the more variables there are.
    turns_per_round: float = 0.25
    listed_work: int = 150_000_000


TUNING = Tuning()
