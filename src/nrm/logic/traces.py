"""Traces as the meanings of formulas read them."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.errors import TraceError
from nrm.logic.symbols import true_symbols


def steps_of(trace: Trace, language: str) -> list[frozenset[str]]:
    """The symbols that hold at each step of a non-empty trace."""
    if isinstance(trace, str):
        raise TraceError(f"a trace is a list of steps, not the text '{trace}'; try {trace.split(',')!r}")
    steps = [frozenset(true_symbols(step)) for step in trace]
    if not steps:
        raise TraceError(f"the trace is empty; {language} formulas speak of traces with at least one step")
    return steps
