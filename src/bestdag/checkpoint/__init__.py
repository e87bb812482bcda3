"""Runs that survive: the state of a long run in a file, and going on from it."""

from bestdag.checkpoint.checkpoint import Checkpoint, State, text_of
from bestdag.checkpoint.opening import open_checkpoint

__all__ = ["Checkpoint", "State", "open_checkpoint", "text_of"]
