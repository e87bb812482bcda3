"""Ctrl-C at a moment that does not depend on how fast the machine is."""

import signal


def press_at(phase, times=1):
    """Return a callback for progress that presses Ctrl-C when a phase is told so many times."""
    told = []

    def progress(how_far):
        if how_far.phase == phase:
            told.append(how_far)
            if len(told) == times:
                signal.raise_signal(signal.SIGINT)

    return progress
