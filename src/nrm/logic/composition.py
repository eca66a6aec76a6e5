"""Automata of Boolean combinations, from those of the parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nrm.automata import Dfa, Limits, combined_all

BOOLEAN_OPERATORS = frozenset(("NOT", "AND", "OR", "XOR", "IMPLIES", "IFF"))


def boolean_combination(op: str, parts: Sequence[Dfa], limits: Limits, order: Sequence[str] = ()) -> Dfa:
    """The minimal automaton of a Boolean operator, by its name, over those of its arguments.

    `order`: of the atoms, which is best that of the formula: it is the order of the decision diagrams.
    """
    match op:
        case "NOT":
            return parts[0].complement().minimal()
        case "AND":
            return combined_all(parts, np.logical_and, limits, order)
        case "OR":
            return combined_all(parts, np.logical_or, limits, order)
        case "IMPLIES":
            return parts[0].complement().combined(parts[1], np.logical_or, limits, order).minimal()
        case _:
            differ = parts[0].combined(parts[1], np.logical_xor, limits, order)
            return (differ.complement() if op == "IFF" else differ).minimal()
