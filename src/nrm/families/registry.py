"""What a family of tasks is, and the registry through which ours and other people's come in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from nrm.errors import ConfigError
from nrm.logic import Formula
from nrm.registry import Registry

FILE_PREFIX = "file:"
"""How a family that is a list of formulas in a file is named: `file:my_tasks.txt`."""


class Family(Protocol):
    """A sampler of tasks: a frozen dataclass, whose fields are what can be set.

    One that needs several things to hold at once may say in `alone`, a class variable, what it loses where one symbol
    holds at a time; `nrm tasks` and `nrm shortcuts` pass it on.
    """

    name: ClassVar[str]
    """How the command line and files call it."""
    label: ClassVar[str]
    """How people read it."""
    example: ClassVar[str]
    """A formula of the kind that it draws, over a, b, c, …"""
    events: ClassVar[int]
    """How many different events it needs at least."""

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A formula about some of the events, which are what can happen at a step: symbols, or several at once."""


_HOMES = {
    "mixture": "mixture",
    "reach": "chains",
    "reach-avoid": "chains",
    "exceptions": "chains",
    "conjunctions": "compounds",
    "until": "compounds",
    "set-backs": "compounds",
    "begun-set-backs": "compounds",
    "avoidance": "compounds",
    "conditionals": "compounds",
    "alternatives": "compounds",
    "random": "random_formulas",
    "paper": "paper",
    "file": "listed",
}
FAMILIES: Registry[Any] = Registry(
    "family", ("label", "example", "events", "draw"), {name: f"nrm.families.{home}" for name, home in _HOMES.items()}
)
"""Classes of families, by name; called without arguments, each gives the family with its defaults."""


def family_of(name: str) -> Family:
    """The family of that name with its defaults: a registered one, `file:PATH`, or `module:name` from outside."""
    if name.startswith(FILE_PREFIX):
        listed: Family = FAMILIES["file"](name.removeprefix(FILE_PREFIX))
        return listed
    if Path(name).is_file():
        raise ConfigError(f"'{name}' is a file; for the formulas in it, write {FILE_PREFIX}{name}")
    kind: Any = FAMILIES[name]
    if not is_dataclass(kind):
        raise ConfigError(f"the family '{name}' is no dataclass: {kind!r}")
    made: Any = kind
    if isinstance(made, type):
        try:
            made = made()
        except TypeError as error:
            raise ConfigError(f"the family '{name}' needs arguments ({error}); of a file, write file:PATH") from None
    family: Family = made
    return family
