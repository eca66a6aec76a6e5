"""LTLf to a minimal DFA by way of the machine that reads traces from their end."""

from __future__ import annotations

from math import log2

from nrm.automata import Dfa, Limits
from nrm.errors import LimitError
from nrm.logic.ltlf.closure import closure
from nrm.logic.ltlf.formula import FUTURE, PAST, Formula
from nrm.logic.progression.backward_machine import BackwardMachine, letters_of, reversed_dfa
from nrm.logic.progression.backward_reading import read_backwards

MAX_BITS = 9
"""Temporal operators, or the bits of machines in their place, up to which a subformula is read in one go."""


def by_reversal(formula: Formula, exclusive: bool, limits: Limits) -> Dfa | None:
    """The minimal automaton; None where letters are many, for past operators, and where a machine becomes large.

    Subformulas of some size are read, minimised and from then on stand as one machine, from the inside out.
    """
    atoms = formula.atoms()
    holds = letters_of(atoms, exclusive)
    if holds is None:
        return None
    known: dict[Formula, BackwardMachine] = {}
    bits: dict[Formula, float] = {}
    try:
        for node in formula.postorder():
            if node.op in PAST:
                return None
            bits[node] = (node.op in FUTURE) + sum(bits[arg] for arg in node.args)
            if bits[node] > MAX_BITS:
                known[node] = read_backwards(closure(node, known), atoms, holds)
                bits[node] = log2(known[node].states)
        whole = known.get(formula) or read_backwards(closure(formula, known), atoms, holds)
        return reversed_dfa(whole, exclusive, limits)
    except LimitError:
        return None
