"""Sphinx settings."""

from importlib.metadata import version as _version

project = "bestdag"
author = "The bestdag developers"
copyright = "2026, the bestdag developers"
release = _version("bestdag")
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"bestdag {release}"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
