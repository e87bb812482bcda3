"""The report: one self-contained page about what was learned."""
