"""DOT, the language of Graphviz: the graph alone, to be drawn."""

from __future__ import annotations

from bestdag.network.network import Network

__all__ = ["render"]


def render(network: Network) -> bytes:
    """Write the graph of a network as the bytes of a DOT file."""
    return (network.to_dot() + "\n").encode("utf-8")
