"""The paper's patterns with drawn symbols and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nrm.families.chains import check_least
from nrm.families.registry import FAMILIES
from nrm.logic import Formula
from nrm.logic.ltlf.formula import both
from nrm.logic.ltlf.patterns import global_avoidance, sequenced_visit, visit


@dataclass(frozen=True)
class PaperPatterns:
    """Visits, sequenced visits and global avoidance, as the paper's eight tasks combine them."""

    name: ClassVar[str] = "paper"
    label: ClassVar[str] = "the paper's patterns"
    example: ClassVar[str] = "sequenced_visit(a, b) & visit(c) & global_avoidance(d)"
    events: ClassVar[int] = 2

    longest: int = 2
    """Most places of a sequenced visit."""
    visits: int = 2
    """Most places to visit in any order."""
    avoided: int = 2
    """Most places to avoid."""

    def __post_init__(self) -> None:
        check_least(self, "longest", 1)
        check_least(self, "visits", 0)
        check_least(self, "avoided", 0)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A conjunction of the patterns over different events."""
        order = [events[int(place)] for place in generator.permutation(len(events))]
        length = int(generator.integers(0, min(self.longest, len(order)) + 1))
        chain, rest = order[:length], order[length:]
        visits = int(generator.integers(0 if chain else 1, max(0 if chain else 1, min(self.visits, len(rest))) + 1))
        places, rest = rest[:visits], rest[visits:]
        hazards = rest[: int(generator.integers(0, min(self.avoided, len(rest)) + 1))]
        parts = [sequenced_visit(*chain)] if chain else []
        parts += [visit(*places)] if places else []
        parts += [global_avoidance(*hazards)] if hazards else []
        return both(*parts)


FAMILIES.register(PaperPatterns)
