"""Agreement with other programs; skipped where they are not installed."""
