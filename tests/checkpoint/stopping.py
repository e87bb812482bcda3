"""Stopping runs at their steps."""

from __future__ import annotations

from bestdag.checkpoint import Checkpoint


class Killed(BaseException):
    """What ends a run from outside."""


class Steps:
    """Counts the steps of runs, and kills one after a step, right after it was kept."""

    def __init__(self, monkeypatch):
        self.count, self.last = 0, None
        keep = Checkpoint.keep

        def counted(checkpoint, *, now=False):
            if not checkpoint.is_kept:
                return
            self.count += 1
            if self.count == self.last:
                keep(checkpoint, now=True)
                raise Killed
            if now:
                keep(checkpoint, now=True)

        monkeypatch.setattr(Checkpoint, "keep", counted)

    def kill_at(self, last, run):
        """Return the answer of a run, or None when it was killed."""
        self.count, self.last = 0, last
        try:
            return run()
        except Killed:
            return None
