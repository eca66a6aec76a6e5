"""Samplers of tasks, and the registry through which ours and other people's come in."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from nrm.errors import ConfigError, FileError, NrmError, NrmWarning, listing
from nrm.files import read_text
from nrm.logic import Formula, Reading, read_formula
from nrm.registry import Registry, received
from nrm.samplers.patterns import PATTERNS

FILE_PREFIX = "file:"
"""How a sampler that is a list of formulas in a file is named: `file:my_tasks.txt`."""
RENAMED_SAMPLERS = {
    "set-backs": "resettable",
    "begun-set-backs": "mid-resettable",
    "exceptions": "avoid-except",
    "alternatives": "branching",
}
"""Names of the last release, which are read for one more."""


class Sampler(Protocol):
    """A sampler of tasks: a frozen dataclass, whose fields are what can be set.

    One that needs several things to hold at once may say in `alone` what it loses where one symbol holds at a time;
    `nrm tasks` and `nrm shortcuts` pass it on.
    """

    @property
    def name(self) -> str:
        """How the command line and files call it."""

    @property
    def label(self) -> str:
        """How people read it."""

    @property
    def example(self) -> str:
        """A formula of the kind that it draws, over a, b and so on."""

    @property
    def events(self) -> int:
        """How many different events it needs at least."""

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A formula about some of the events, which are what can happen at a step: symbols, or several at once."""


@dataclass(frozen=True)
class TemplateSampler:
    """Formulas of one pattern. Unset sizes have the default of the pattern; not every pattern has every size."""

    pattern: str
    """Which pattern: the name of the sampler."""
    min_steps: int | None = None
    """Minimum length of a sequence."""
    max_steps: int | None = None
    """Maximum length of a sequence."""
    max_parts: int | None = None
    """Maximum number of sequences, in any order."""
    max_choices: int | None = None
    """Maximum number of alternatives at each step."""
    max_avoided: int | None = None
    """Maximum number of symbols to avoid at each step."""

    def __post_init__(self) -> None:
        known = PATTERNS[self.pattern].sizes
        for name, value in list(vars(self).items())[1:]:
            if value is not None and name not in known:
                there = f"settings: {listing(known)}" if known else "it has none"
                raise ConfigError(f"the sampler '{self.pattern}' has no setting {name} ({there})")
            if value is not None and value < known[name].least:
                raise ConfigError(f"{name} is at least {known[name].least}, not {value}")
        least, most = self.at("min_steps"), self.at("max_steps")
        if "min_steps" in known and least > most:
            raise ConfigError(f"min_steps is at most max_steps; they are {least} and {most}")

    def at(self, size: str) -> int:
        """A size, the pattern's own where none is set; 0 where it has no such thing."""
        value: int | None = getattr(self, size)
        usual = PATTERNS[self.pattern].sizes.get(size)
        return value if value is not None else 0 if usual is None else usual.usual

    name = property(lambda self: self.pattern)
    label = property(lambda self: PATTERNS[self.pattern].label)
    example = property(lambda self: PATTERNS[self.pattern].example)
    events = property(lambda self: PATTERNS[self.pattern].events)
    alone = property(lambda self: PATTERNS[self.pattern].alone)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A formula of the pattern."""
        return PATTERNS[self.pattern].draw(self, events, generator)


@dataclass(frozen=True)
class Mixture:
    """Tasks of several samplers, equally often. An agent does not learn what the mixture lacks."""

    name: ClassVar[str] = "mixture"
    label: ClassVar[str] = "several samplers, equally often"
    example: ClassVar[str] = "!a U (b & F c)"
    events: ClassVar[int] = 3

    families: tuple[str, ...] = ("reach-avoid", "conjunctions", "until", "resettable", "avoidance", "conditionals")
    """Names of the samplers; repeat a name to sample it more often."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", tuple(self.families))
        if not self.families:
            raise ConfigError("the mixture is empty; name at least one sampler")
        if self.name in self.families:
            raise ConfigError("a mixture cannot hold itself; name other samplers")

    @cached_property
    def _members(self) -> tuple[Sampler, ...]:
        return tuple(sampler_of(name) for name in self.families)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A task of one of the samplers that the events suffice for."""
        able = [sampler for sampler in self._members if sampler.events <= len(events)]
        if not able:
            needed = min(sampler.events for sampler in self._members)
            raise ConfigError(f"every sampler of the mixture needs {needed} events or more; there are {len(events)}")
        return able[int(generator.integers(len(able)))].draw(events, generator)


@dataclass(frozen=True)
class Listed:
    """The formulas of a text file, one per line; empty lines and comments after # are skipped."""

    name: ClassVar[str] = "file"
    label: ClassVar[str] = "the formulas of a file"
    example: ClassVar[str] = "file:my_tasks.txt"
    events: ClassVar[int] = 1

    path: str
    """Path of the file."""

    @cached_property
    def formulas(self) -> tuple[Reading, ...]:
        """All formulas with their languages, in their order."""
        found = []
        for number, line in enumerate(read_text(self.path).splitlines(), 1):
            text = line.partition("#")[0].strip()
            try:
                with received():
                    found += [read_formula(text)] if text else []
            except NrmError as error:
                raise FileError(f"{self.path}, line {number}: {error}") from None
        if not found:
            raise ConfigError(f"the file {self.path} holds no formula; write one a line")
        return tuple(found)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:  # noqa: ARG002
        """One of the LTLf formulas; it speaks of what it speaks of."""
        known = [reading.formula for reading in self.formulas if isinstance(reading.formula, Formula)]
        return known[int(generator.integers(len(known)))]


SAMPLERS: Registry[Any] = Registry("sampler", ("label", "example", "events", "draw"), {})
"""Samplers with their defaults, or classes of them, by name."""
for _sampler in (Mixture, *map(TemplateSampler, PATTERNS), Listed):
    SAMPLERS.register(_sampler)


def sampler_of(name: str) -> Sampler:
    """The sampler of that name with its defaults: a registered one, `file:PATH`, or `module:name` from outside."""
    if name.startswith(FILE_PREFIX):
        return Listed(name.removeprefix(FILE_PREFIX))
    if name in RENAMED_SAMPLERS:
        new = RENAMED_SAMPLERS[name]
        warnings.warn(f"the sampler '{name}' is called '{new}' now; use that name", NrmWarning, stacklevel=2)
        name = new
    if os.path.isfile(name):
        raise ConfigError(f"'{name}' is a file; for the formulas in it, write {FILE_PREFIX}{name}")
    made: Any = SAMPLERS[name]
    if not is_dataclass(made):
        raise ConfigError(f"the sampler '{name}' is no dataclass: {made!r}")
    if isinstance(made, type):
        try:
            made = made()
        except TypeError as error:
            raise ConfigError(f"the sampler '{name}' needs arguments ({error}); of a file, write file:PATH") from None
    sampler: Sampler = made
    return sampler
