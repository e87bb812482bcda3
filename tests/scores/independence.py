"""Data in which a further parent tells nothing, for tests of regularity."""

from hypothesis import assume
from hypothesis import strategies as st

from tests.conftest import make_dataset


@st.composite
def independent_of_z(draw, min_total=1):
    """x, p and z with x independent of z given p in the data: N_xpz = N_xp m_pz.

    Whatever z is, a constant, a copy of p or a coin, H(x | p, z) = H(x | p).
    """
    r, q, r_z = draw(st.integers(2, 4)), draw(st.integers(2, 3)), draw(st.integers(2, 4))
    small = st.integers(0, draw(st.sampled_from([1, 3, 20])))
    rows, weights = [], []
    for p in range(q):
        n_x = draw(st.lists(small, min_size=r, max_size=r))
        m_z = draw(st.lists(st.integers(0, 2), min_size=r_z, max_size=r_z))
        for x in range(r):
            for z in range(r_z):
                rows.append((x, p, z))
                weights.append(n_x[x] * m_z[z])
    assume(sum(weights) >= min_total)
    rows = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    columns = dict(zip("xpz", map(list, zip(*rows, strict=True)), strict=True))
    return make_dataset(columns, {"x": r, "p": q, "z": r_z})
