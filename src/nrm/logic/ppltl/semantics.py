"""What a pure-past formula means on a trace: its truth at the last step."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.logic.ltlf.formula import Formula
from nrm.logic.ltlf.semantics import truths
from nrm.logic.ppltl.parser import parse
from nrm.logic.traces import steps_of


def holds(formula: Formula | str, trace: Trace) -> bool:
    """Whether `formula` holds at the last step of a non-empty `trace`."""
    return truths(parse(formula), steps_of(trace, "pure-past LTL"))[-1]
