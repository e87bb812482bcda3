"""Fayyad and Irani's cuts straight from the definition: every cut, plain entropies, recursion.

Entropies are 50-digit decimals, so costs that are equal on paper differ by less than the
tolerance and the lowest cut is found by comparing, not by luck.
"""

from decimal import Decimal, localcontext

_EQUAL = Decimal("1e-12")


def log2(x):
    return x.ln() / Decimal(2).ln()


def entropy(cases):
    """Class entropy in bits of (value, class, weight) cases."""
    total = sum(weight for _, _, weight in cases)
    classes = {c for _, c, _ in cases}
    shares = [sum(w for _, c, w in cases if c == one) / total for one in classes]
    return -sum(share * log2(share) for share in shares)


def split(cases):
    """The least entropy cut of the cases as (left, right), or None if none is accepted."""
    values = sorted({value for value, _, _ in cases})
    total = sum(weight for _, _, weight in cases)
    best = None
    for low in values[:-1]:
        left = [case for case in cases if case[0] <= low]
        right = [case for case in cases if case[0] > low]
        n_left = sum(weight for _, _, weight in left)
        cost = (n_left * entropy(left) + (total - n_left) * entropy(right)) / total
        if best is None or cost < best[0] - _EQUAL:
            best = (cost, left, right)
    if best is None:
        return None
    cost, left, right = best
    k, k1, k2 = (Decimal(len({c for _, c, _ in part})) for part in (cases, left, right))
    delta = log2(3**k - 2) - (k * entropy(cases) - k1 * entropy(left) - k2 * entropy(right))
    choices = log2(max(Decimal(1), total - 1))
    return (left, right) if entropy(cases) - cost > (choices + delta) / total else None


def boundaries(values, classes, weights=None):
    """Pairs of neighbouring values between which the column is cut, ascending."""
    heavy = weights if weights is not None else [1] * len(values)
    with localcontext() as context:
        context.prec = 50
        cases = [(v, c, Decimal(w)) for v, c, w in zip(values, classes, heavy, strict=True)]
        return _boundaries([case for case in cases if case[2] > 0])


def _boundaries(cases):
    found = split(cases) if cases else None
    if found is None:
        return []
    left, right = found
    here = (max(v for v, _, _ in left), min(v for v, _, _ in right))
    return [*_boundaries(left), here, *_boundaries(right)]
