"""Sphinx settings."""

from importlib.metadata import version as _version

from docutils import nodes as _nodes
from latex2mathml.converter import convert as _convert

project = "bestdag"
author = "The bestdag developers"
copyright = "2026, the bestdag developers"
release = _version("bestdag")
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"bestdag {release}"
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False


def _inline(writer, node):
    writer.body.append(_convert(node.astext()))
    raise _nodes.SkipNode


def _display(writer, node):
    formula = _convert(node.astext(), display="block")
    writer.body.append(f'<div class="math">{formula}</div>')
    raise _nodes.SkipNode


def setup(app):
    """Formulas are MathML, which browsers show by themselves: pages fetch nothing."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
