"""Patterns inside regular expressions: a pattern stands for the traces that satisfy it."""

from __future__ import annotations

from collections.abc import Sequence

from nrm.logic.ltlf import formula as ltlf
from nrm.logic.ltlf.patterns import apply_pattern
from nrm.logic.regex.formula import Regex
from nrm.logic.steps import BOOLEAN


def pattern_formula(name: str, arguments: Sequence[Regex | int]) -> ltlf.Formula:
    """The LTLf formula of a pattern over steps, with a number last where it counts."""
    return apply_pattern(name, [arg if isinstance(arg, int) else _in_ltlf(arg) for arg in arguments])


def formula_of(pattern: Regex) -> ltlf.Formula:
    """The LTLf formula that a `PATTERN` stands for."""
    name, _, number = pattern.name.partition(" ")
    return pattern_formula(name, [*pattern.args, *([int(number)] if number else [])])


def _in_ltlf(step: Regex) -> ltlf.Formula:
    done: dict[Regex, ltlf.Formula] = {}
    for node in step.postorder():
        assert node.op.name in BOOLEAN
        done[node] = ltlf.Formula(ltlf.Op[node.op.name], tuple(done[arg] for arg in node.args), node.name)
    return done[step]
