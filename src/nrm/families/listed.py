"""A list of formulas in a file as a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from nrm.errors import ConfigError, FileError, NrmError
from nrm.families.registry import FAMILIES
from nrm.files import read_text
from nrm.logic import Formula, Reading, read_formula


@dataclass(frozen=True)
class Listed:
    """The formulas of a text file, one a line; empty lines and what follows a # are skipped.

    A formula that is not in LTLf names its language in front: `re: (!lava)*; gem`.
    """

    name: ClassVar[str] = "file"
    label: ClassVar[str] = "the formulas of a file"
    example: ClassVar[str] = "file:my_tasks.txt"
    events: ClassVar[int] = 1

    path: str
    """Where the file is."""

    @cached_property
    def formulas(self) -> tuple[Reading, ...]:
        """All formulas with their languages, in their order."""
        found = []
        for number, line in enumerate(read_text(self.path).splitlines(), 1):
            text = line.partition("#")[0].strip()
            if not text:
                continue
            try:
                found.append(read_formula(text))
            except NrmError as error:
                raise FileError(f"{self.path}, line {number}: {error}") from None
        if not found:
            raise ConfigError(f"the file {self.path} holds no formula; write one a line")
        return tuple(found)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:  # noqa: ARG002
        """One of the LTLf formulas; it speaks of what it speaks of."""
        known = [reading.formula for reading in self.formulas if isinstance(reading.formula, Formula)]
        return known[int(generator.integers(len(known)))]


FAMILIES.register(Listed)
