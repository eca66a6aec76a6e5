"""Random formulas of a given size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nrm.families.registry import FAMILIES
from nrm.logic import Formula
from nrm.logic.ltlf.formula import Op, both, either, infix, prefix

MIN_SIZE, MAX_SIZE = 4, 12
"""Operators and events of a formula."""
_UNARY = (Op.EVENTUALLY, Op.EVENTUALLY, Op.NOT, Op.ALWAYS)
_BINARY = (Op.AND, Op.AND, Op.OR, Op.UNTIL, Op.UNTIL, Op.IMPLIES)


@dataclass(frozen=True)
class RandomFormulas:
    """Formulas whose operators are drawn: whatever can be said. Those that ask for nothing are drawn anew."""

    name: ClassVar[str] = "random"
    label: ClassVar[str] = "random formulas"
    example: ClassVar[str] = "F(a & (b U F c)) & (d -> F e)"
    events: ClassVar[int] = 2

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A formula of a drawn size."""
        return self._tree(int(generator.integers(MIN_SIZE, MAX_SIZE + 1)), events, generator)

    def _tree(self, size: int, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        if size <= 1:
            return events[int(generator.integers(len(events)))]
        if size == 2 or generator.random() < 0.35:
            return prefix(_one(_UNARY, generator), self._tree(size - 1, events, generator))
        left = int(generator.integers(1, size - 1))
        parts = self._tree(left, events, generator), self._tree(size - 1 - left, events, generator)
        chosen = _one(_BINARY, generator)
        flat = {Op.AND: both, Op.OR: either}
        return flat[chosen](*parts) if chosen in flat else infix(chosen, *parts)


def _one(operators: Sequence[Op], generator: np.random.Generator) -> Op:
    return operators[int(generator.integers(len(operators)))]


FAMILIES.register(RandomFormulas)
