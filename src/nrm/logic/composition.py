"""Automata of Boolean combinations, from those of the parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nrm.automata import Dfa, Limits
from nrm.automata.dfa import combined_all

BOOLEAN_OPERATORS = frozenset(("NOT", "AND", "OR", "XOR", "IMPLIES", "IFF"))


def boolean_combination(op: str, parts: Sequence[Dfa], limits: Limits) -> Dfa:
    """The minimal automaton of a Boolean operator, by its name, over those of its arguments."""
    match op:
        case "NOT":
            return parts[0].complement().minimal()
        case "AND":
            return combined_all(parts, np.logical_and, limits)
        case "OR":
            return combined_all(parts, np.logical_or, limits)
        case "IMPLIES":
            return parts[0].complement().combined(parts[1], np.logical_or, limits).minimal()
        case _:
            differ = parts[0].combined(parts[1], np.logical_xor, limits)
            return (differ.complement() if op == "IFF" else differ).minimal()
