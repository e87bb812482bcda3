"""Networks for the tests: a small BIF text, and random networks with hostile names."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bestdag.data.schema import Variable
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable

# Every kind of block and entry, in a few lines.
SMALL = """\
network "small one" { // a comment
  property author = me;
}
variable rain {
  type discrete [ 2 ] { no, yes };
  property position = (7, 9);
}
variable "wet grass" { /* another */
  type discrete [ 3 ] { dry, damp, "soaking wet" };
}
probability ( rain ) { table 0.8, 2e-1; }
probability ( "wet grass" | rain ) {
  (yes) 0.0, 0.25, 0.75;
  default 1.0, 0, .0;
}
"""

RAIN = Variable("rain", ("no", "yes"))
WET = Variable("wet grass", ("dry", "damp", "soaking wet"))


def small_network() -> Network:
    """What SMALL says, built by hand."""
    return Network(
        [
            ConditionalTable(RAIN, (), np.array([0.8, 0.2])),
            ConditionalTable(WET, (RAIN,), np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]])),
        ],
        name="small one",
        properties=["author = me"],
        variable_properties={"rain": ["position = (7, 9)"]},
    )


def asia() -> Network:
    """The chest clinic network, with the numbers of Lauritzen and Spiegelhalter (1988)."""
    # Each child, its parents and P(no), P(yes) in each configuration, the last parent fastest.
    families: list[tuple[str, list[str], list[tuple[float, float]]]] = [
        ("asia", [], [(0.99, 0.01)]),
        ("tub", ["asia"], [(0.99, 0.01), (0.95, 0.05)]),
        ("smoke", [], [(0.5, 0.5)]),
        ("lung", ["smoke"], [(0.99, 0.01), (0.9, 0.1)]),
        ("bronc", ["smoke"], [(0.7, 0.3), (0.4, 0.6)]),
        ("either", ["tub", "lung"], [(1.0, 0.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]),
        ("xray", ["either"], [(0.95, 0.05), (0.02, 0.98)]),
        ("dysp", ["bronc", "either"], [(0.9, 0.1), (0.3, 0.7), (0.2, 0.8), (0.1, 0.9)]),
    ]
    variables = {child: Variable(child, ("no", "yes")) for child, _, _ in families}
    tables = []
    for child, parents, rows in families:
        values = np.array(rows).reshape((2,) * (len(parents) + 1))
        tables.append(ConditionalTable(variables[child], [variables[p] for p in parents], values))
    return Network(tables, name="asia")


# Any text, lone surrogates included, and pieces that look like BIF.
hostile_text = st.one_of(
    st.text(st.characters(), max_size=6),
    st.text('ab"\\,;|{}()[]/* \n\r\t\u00a0\u2028\ufeff\x00😀\ud800', max_size=8),
    st.sampled_from(
        ["table", "default", "property", "//", "/*", "<5", "12+", "a//b", "", "\\u0041"]
    ),
)


@st.composite
def random_networks(draw: st.DrawFn) -> Network:
    """Up to five variables with any names, states, parents, cut points and properties."""
    names = draw(st.lists(hostile_text, min_size=1, max_size=5, unique=True))
    variables: list[Variable] = []
    tables = []
    for name in names:
        states = tuple(draw(st.lists(hostile_text, min_size=1, max_size=4, unique=True)))
        cuts = None
        if draw(st.booleans()):
            n_cuts = len(states) - 1
            points = st.lists(st.floats(-9, 9), min_size=n_cuts, max_size=n_cuts, unique=True)
            cuts = tuple(sorted(draw(points)))
        child = Variable(name, states, cuts)
        parents = tuple(
            draw(st.lists(st.sampled_from(variables), unique=True, max_size=3)) if variables else []
        )
        shape = (*(parent.arity for parent in parents), child.arity)
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        values = rng.gamma(0.3, size=shape) + 1e-300
        values /= values.sum(axis=-1, keepdims=True)
        tables.append(ConditionalTable(child, parents, values))
        variables.append(child)
    return Network(
        draw(st.permutations(tables)),
        name=draw(hostile_text),
        properties=draw(st.lists(property_text, max_size=2)),
        variable_properties={names[0]: draw(st.lists(property_text, max_size=2))},
    )


property_text = st.one_of(
    hostile_text, st.sampled_from(["bestdag-cuts = 1", 'a "b;c" d', "x = 'y'", " edge ", "'"])
)
