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
from nrm.logic import Formula, parse


@dataclass(frozen=True)
class Listed:
    """The formulas of a text file, one a line; empty lines and what follows a # are skipped."""

    name: ClassVar[str] = "file"
    label: ClassVar[str] = "the formulas of a file"
    example: ClassVar[str] = "file:my_tasks.txt"
    events: ClassVar[int] = 1

    path: str
    """Where the file is."""

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """All formulas, in their order."""
        found = []
        for number, line in enumerate(read_text(self.path).splitlines(), 1):
            text = line.partition("#")[0].strip()
            if not text:
                continue
            try:
                found.append(parse(text))
            except NrmError as error:
                raise FileError(f"{self.path}, line {number}: {error}") from None
        if not found:
            raise ConfigError(f"the file {self.path} holds no formula; write one a line")
        return tuple(found)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:  # noqa: ARG002
        """One of the formulas; it speaks of what it speaks of."""
        return self.formulas[int(generator.integers(len(self.formulas)))]


FAMILIES.register(Listed)
