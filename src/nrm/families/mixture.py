"""All families mixed: the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from nrm.errors import ConfigError
from nrm.families.registry import FAMILIES, Family, family_of
from nrm.logic import Formula


@dataclass(frozen=True)
class Mixture:
    """Tasks of several families, each as often as the other. What a mixture lacks, an agent does not learn."""

    name: ClassVar[str] = "mixture"
    label: ClassVar[str] = "several families mixed"
    example: ClassVar[str] = "!a U (b & F c)"
    events: ClassVar[int] = 3

    families: tuple[str, ...] = ("reach-avoid", "conjunctions", "until", "set-backs", "avoidance", "conditionals")
    """Names of the families; a name that stands twice is drawn twice as often."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", tuple(self.families))
        if not self.families:
            raise ConfigError("the mixture is empty; name at least one family")
        if self.name in self.families:
            raise ConfigError("a mixture cannot hold itself; name other families")

    @cached_property
    def _members(self) -> tuple[Family, ...]:
        return tuple(family_of(name) for name in self.families)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A task of one of the families that the events suffice for."""
        able = [family for family in self._members if family.events <= len(events)]
        if not able:
            needed = min(family.events for family in self._members)
            raise ConfigError(f"every family of the mixture needs {needed} events or more; there are {len(events)}")
        return able[int(generator.integers(len(able)))].draw(events, generator)


FAMILIES.register(Mixture)
