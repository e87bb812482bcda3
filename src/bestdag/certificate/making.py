"""From a result to a certificate: the lists, the parts and what proves each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bestdag.certificate.branching import branching_certificate
from bestdag.certificate.checking import MOST_BY_RECURSION
from bestdag.certificate.file import Case, Lists, OptimalityCertificate, Part, Rows, ScoredBy, Tree
from bestdag.certificate.numbers import at_least, fingerprint_of
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.registry import settings_of
from bestdag.scores import SCORES
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.prior import SparsePrior, StructurePrior, UniformPrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate as TreeCertificate
from bestdag.search.exact.components import Component, Solution, decompose
from bestdag.search.exact.dp.all_sets import WholeProof
from bestdag.search.exact.search import Exact
from bestdag.search.exact.solver import ComponentProof
from bestdag.search.exact.statements.proof import StatementProof
from bestdag.search.problem import Problem
from bestdag.search.ties import tie_width
from bestdag.search.trees import ChowLiu
from bestdag.wording import arg, count_of

if TYPE_CHECKING:
    from bestdag.learned import Result

__all__ = ["certificate_of"]

# What a check may add where a proof leaves nothing to check and the part is solved again, as a
# share of the part's cost: rounding of the recursion, or the resolution of branch and cut.
_ROUNDING, _RESOLUTION = Fraction(1, 1 << 52), Fraction(1, 10**9)


def certificate_of(result: Result, max_parents: int | None = None) -> OptimalityCertificate:
    """Return the certificate of a result, or of one of its rungs; see `Result.certificate`."""
    import bestdag

    most, proofs = _proved(result, max_parents)
    proofs = _found_again(proofs)
    if most == 1 and not proofs:
        proofs = _solved_with_one_parent(result)
    made = _Made.of(result, proofs)
    score, resolution = made.claim()
    limits, dataset = result.limits, result.dataset
    return OptimalityCertificate(
        version=bestdag.__version__,
        names=made.table.names,
        max_parents=most,
        support=float(limits.support),
        exempt=tuple((child, tuple(sorted(parents))) for child, parents in limits.exempt),
        knowledge={} if result.knowledge is None else result.knowledge.to_dict(),
        is_among_listed=result.is_among_listed,
        score=score,
        resolution=resolution,
        parents=tuple(made.table.child(v).parents(k) for v, k in enumerate(made.chosen)),
        rows=None
        if dataset is None
        else Rows(
            n_rows=float(dataset.total_weight),
            fingerprint=fingerprint_of(dataset),
            missing=result.treatment.name,
        ),
        scored_by=_scored_by(result),
        lists=tuple(
            Lists(scores=tuple(sets.scores.tolist()), parents=tuple(p for _, p in sets))
            for sets in map(made.table.child, range(made.table.n_variables))
        ),
        cases=made.cases,
    )


# What is proved.


def _proved(result: Result, max_parents: int | None) -> tuple[int | None, tuple[Any, ...]]:
    """Return the limit of parents of what is to be certified, and its proofs."""
    top = result.limits.max_parents
    proved: dict[int | None, tuple[Any, ...]] = {
        rung.max_parents: rung.certificates for rung in result.ladder if rung.is_proved
    }
    proved.pop(None, None)
    if result.is_proved:
        proved[None] = result.certificates
    if not proved:
        raise InvalidParameterError(
            f"certificate: nothing is proved, the status is '{result.status}'; more time, or a "
            f"limit such as {arg('max_parents', 2)}, may give a proof"
        )
    if max_parents is None:
        wanted = None if None in proved else max(k for k in proved if k is not None)
    elif None in proved and max_parents >= (len(result.dag.nodes) - 1 if top is None else top):
        wanted = None
    else:
        wanted = max_parents
    if wanted not in proved:
        known = [*(str(k) for k in proved if k is not None), *(["all"] if None in proved else [])]
        raise InvalidParameterError(
            f"certificate: for at most {count_of(max_parents or 0, 'parent')} there is no proof of "
            f"its own, only for: {', '.join(known)}; learn with {arg('max_parents', max_parents)}"
        )
    return (top if wanted is None else wanted), proved[wanted]


def _found_again(proofs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Solve again what was read from the file of a finished run, which keeps no proof."""
    if len(proofs) == 1 and callable(getattr(proofs[0], "again", None)):
        solved = proofs[0].again()
        if not solved.is_proved:
            raise InvalidParameterError(
                "certificate: the result was read from a checkpoint, and solving again ended "
                f"without a proof ('{solved.status}')"
            )
        return tuple(solved.certificates)
    return proofs


def _scores(result: Result) -> LocalScores:
    """Return the scores that the result was learned by, with the support of its families."""
    scores = result.scores
    if scores is None:
        raise InvalidParameterError("certificate: the result does not say what it was scored by")
    if isinstance(scores, Scorer):
        return scores.within_support(result.limits.support).exempting(result.limits.exempt)
    return scores


def _solved_with_one_parent(result: Result) -> tuple[Any, ...]:
    """Prove the lowest rung, which Edmonds' algorithm leaves without a proof to write."""
    problem = Problem(_scores(result), knowledge=result.knowledge, max_parents=1)
    if problem.nodes.required_edges or problem.nodes.has_ancestral:
        return problem.solve(Exact()).certificates
    table = problem.table()
    chosen = _positions(table, problem.solve(ChowLiu(forest=True)).dag)
    assert chosen is not None, "a branching that is not listed"
    tree = branching_certificate(table, chosen)
    whole = Component(
        tuple(range(table.n_variables)),
        table,
        tuple(np.arange(len(table.child(v))) for v in range(table.n_variables)),
    )
    solved = Solution(
        chosen=tuple(chosen),
        score=tree.score,
        bound=tree.bound,
        status="optimum proved",
        resolution=tree.resolution,
        proofs=(tree,),
    )
    return (ComponentProof(whole, solved, table),)


# From proofs to lists and parts.


class _Made:
    """The lists, the parts of each case, a structure, and what all of it proves."""

    def __init__(
        self,
        table: ScoreTable,
        chosen: Sequence[int],
        cases: Iterable[Case],
        proved: Fraction,
    ) -> None:
        self.table, self.chosen = table, tuple(chosen)
        self.cases, self._proved = tuple(cases), proved

    @classmethod
    def of(cls, result: Result, proofs: tuple[Any, ...]) -> _Made:
        """Take the proofs of any engine."""
        first = proofs[0] if proofs else None
        if isinstance(first, ComponentProof):
            return cls._of_parts(result, first.whole, proofs)
        if isinstance(first, StatementProof):
            return cls._of_statements(first)
        if isinstance(first, WholeProof):
            return cls._of_all_sets(first)
        raise InvalidParameterError(
            f"certificate: the search {result.search!r} leaves no proof that can be written"
        )

    def claim(self) -> tuple[float, float]:
        """Return the score of the structure, and how much more a structure may score."""
        chosen = [float(self.table.child(v).scores[k]) for v, k in enumerate(self.chosen)]
        score = math.fsum(chosen)
        return score, at_least(max(Fraction(), self._proved - Fraction(score)))

    @classmethod
    def _of_parts(
        cls, result: Result, table: ScoreTable, proofs: Sequence[ComponentProof]
    ) -> _Made:
        chosen = [0] * table.n_variables
        proved = Fraction()
        parts = []
        for proof in proofs:
            component, solved = proof.component, proof.result
            parts.append(_part(component, solved, component.origins))
            proved += _proved_by(component.table, solved)
            for place, v in enumerate(component.variables):
                chosen[v] = int(component.origins[place][solved.chosen[place]])
        chosen = _preferred(table, chosen, result.dag)
        return cls(table, chosen, [Case(parts=tuple(parts))], proved)

    @classmethod
    def _of_statements(cls, proof: StatementProof) -> _Made:
        """Go through the tree of cases; those that are not needed are left out."""
        needed = list(proof.needed_cases())
        number = {old: new for new, (old, _, _) in enumerate(needed)}
        cases, proved = [], []
        for old, limits, is_split in needed:
            case = proof.cases[old]
            left = None if is_split else proof.left(limits)
            if case.split is not None and is_split:
                children = tuple(number[child] for child in case.children)
                cases.append(Case(**asdict(case.split), children=children))
            elif left is None:
                cases.append(Case())
            else:
                parts, bound = [], Fraction()
                for component in decompose(left[0]):
                    solved = case.results[component.variables]
                    pairs = zip(component.variables, component.origins, strict=True)
                    origins = [np.array(left[1][v])[own] for v, own in pairs]
                    parts.append(_part(component, solved, origins))
                    bound += _proved_by(component.table, solved)
                cases.append(Case(parts=tuple(parts)))
                proved.append(bound)
        return cls(proof.table, proof.chosen, cases, max(proved))

    @classmethod
    def _of_all_sets(cls, proof: WholeProof) -> _Made:
        """List the sets that a proof over all sets looked at without listing them."""
        listing = ParentSetListing(proof.scorer, proof.limits)
        listing.run(anytime=False)
        table = listing.table(finish=True)
        chosen = _positions(table, proof.dag)
        assert chosen is not None, "a structure that is not listed"
        parts = [Part(variables=c.variables, sets=_places(c.origins)) for c in decompose(table)]
        score = sum(
            (Fraction(float(table.child(v).scores[k])) for v, k in enumerate(chosen)), Fraction()
        )
        slack = _slack(table, chosen) + Fraction(proof.slack)
        return cls(table, chosen, [Case(parts=tuple(parts))], score + slack)


def _part(component: Component, solved: Solution, origins: Sequence[Any]) -> Part:
    tree = next((one for one in solved.proofs if isinstance(one, TreeCertificate)), None)
    return Part(
        variables=component.variables,
        sets=_places(origins),
        tree=None if tree is None else Tree.of(tree),
    )


def _places(origins: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(own.tolist()) for own in origins)


def _proved_by(table: ScoreTable, solved: Solution) -> Fraction:
    """Return what no acyclic choice exceeds, by what the check of the solution makes of it."""
    for proof in solved.proofs:
        if isinstance(proof, TreeCertificate):
            return max(Fraction(proof.score) + Fraction(proof.resolution), Fraction(proof.bound))
    scores = (Fraction(float(table.child(v).scores[k])) for v, k in enumerate(solved.chosen))
    return sum(scores, Fraction()) + Fraction(solved.resolution) + _slack(table, solved.chosen)


def _slack(table: ScoreTable, chosen: Sequence[int]) -> Fraction:
    """Return what solving again may add by the rounding of its own."""
    if table.n_variables == 1:
        return Fraction()
    children = (table.child(v).scores for v in range(table.n_variables))
    pairs = zip(children, chosen, strict=True)
    cost = sum((Fraction(float(own[0])) - Fraction(float(own[k])) for own, k in pairs), Fraction())
    return cost * (_ROUNDING if table.n_variables <= MOST_BY_RECURSION else _RESOLUTION)


def _positions(table: ScoreTable, dag: Dag) -> list[int] | None:
    """Return where the families of a structure are; of one that is not listed its best subset.

    A set is not listed where a subset scores no less; to take that leaves out arcs, which closes no
    cycle. None where a variable has no such subset.
    """
    number = {name: i for i, name in enumerate(table.names)}
    chosen = []
    for v, name in enumerate(table.names):
        parents = tuple(sorted(number[p] for p in dag.parents(name)))
        fitting = [k for k, (_, own) in enumerate(table.child(v)) if set(own) <= set(parents)]
        if not fitting:
            return None
        same = (k for k in fitting if table.child(v).parents(k) == parents)
        chosen.append(next(same, fitting[0]))
    return chosen


def _preferred(table: ScoreTable, chosen: Sequence[int], dag: Dag) -> list[int]:
    """Take the structure that was printed where it is as good as the one that the engine chose."""
    other = _positions(table, dag)
    if other is None:
        return list(chosen)
    best, score = (
        math.fsum(float(table.child(v).scores[k]) for v, k in enumerate(own))
        for own in (chosen, other)
    )
    return other if abs(score - best) <= tie_width(best) else list(chosen)


# What the scores are.


def _scored_by(result: Result) -> ScoredBy | None:
    score, prior = result.scored_by, result.structure_prior
    if score is None:
        if isinstance(result.scores, ScoreTable) or result.scores is None:
            return None
        return ScoredBy(words=f"{result.scores!r:.200}")
    words = repr(score) if prior is None else f"{score!r} with {prior!r}"
    prior_name = _prior_name(prior, len(result.dag.nodes))
    entry = SCORES.get(score.name)
    if entry is not type(score):
        return ScoredBy(words=words, prior=prior_name)
    values = ((one.name, getattr(score, one.name)) for one in settings_of(entry))
    settings = {k: v.item() if isinstance(v, np.generic) else v for k, v in values}
    if not all(isinstance(v, bool | int | float | str | None) for v in settings.values()):
        return ScoredBy(words=words, prior=prior_name)
    return ScoredBy(words=words, name=score.name, settings=settings, prior=prior_name)


def _prior_name(prior: StructurePrior | None, n_variables: int) -> str | None:
    if prior is None or isinstance(prior, UniformPrior):
        return "uniform"
    is_sparse = isinstance(prior, SparsePrior) and prior.n_variables == n_variables
    return "sparse" if is_sparse else None
