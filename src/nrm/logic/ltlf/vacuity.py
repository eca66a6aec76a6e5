"""Vacuity: what of a formula holds only because nothing that it asks for ever came due.

A trace satisfies a formula vacuously if it also satisfies the formula with a subformula made as strong as its polarity
allows (Beer, Ben-David, Eisner and Rodeh 2001; Kupferman and Vardi 2003). Here all that a conjunct asks for becomes
false at once: the consequents of its implications, and its other positive symbols. Whatever is found is vacuous in
their sense, and a disjunction with one true side is not reported.
"""

from __future__ import annotations

from typing import NamedTuple

from nrm.logic.ltlf.formula import FALSE, Formula, Op, both, either


class Strengthened(NamedTuple):
    """A conjunct of a formula, and what is left of it when all that it asks for is false."""

    part: Formula
    mutant: Formula


def strengthened(formula: Formula) -> list[Strengthened]:
    """The conjuncts of a formula that ask for something under a condition, such as `G(a -> F b)`, with `G !a`."""
    parts = formula.args if formula.op is Op.AND else (formula,)
    pairs = (Strengthened(part, part.folded(_polarities)[0]) for part in parts)
    return [pair for pair in pairs if pair.mutant != pair.part]


def _polarities(node: Formula, args: list[tuple[Formula, Formula]]) -> tuple[Formula, Formula]:
    """A part as it stands below an even and below an odd number of negations; what is asked for is false."""
    even, odd = tuple(arg[0] for arg in args), tuple(arg[1] for arg in args)
    match node.op:
        case Op.ATOM:
            return FALSE, node
        case Op.NOT:
            return ~odd[0], ~even[0]
        case Op.IMPLIES:
            return ~odd[0], even[0] >> odd[1]
        case Op.IFF:
            return both(~odd[0], ~odd[1]), both(even[0] >> odd[1], even[1] >> odd[0])
        case Op.XOR:
            return _one_of(even, odd), _one_of(odd, even)
        case _:
            return Formula(node.op, even, node.name), Formula(node.op, odd, node.name)


def _one_of(same: tuple[Formula, ...], other: tuple[Formula, ...]) -> Formula:
    """Exactly one of two parts, whose negations stand below one negation more."""
    return both(either(*same), either(*(~part for part in other)))
