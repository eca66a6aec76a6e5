"""Registries: the doors through which methods, envs, algorithms and grounders come in, ours and other people's."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from nrm.errors import (
    ConfigError,
    MissingModuleError,
    ModuleError,
    UntrustedError,
    describe,
    listing,
    suggestion,
    unknown,
)

Value = TypeVar("Value")


@dataclass(frozen=True)
class Given:
    """Which names of code are followed: those in words that somebody has typed, or every name."""

    words: tuple[str, ...] = ()
    everything: bool = False
    followed: set[str] = field(default_factory=set)
    """Those that were."""

    def holds(self, name: str) -> bool:
        """Whether a name was typed, alone or in a formula."""
        exactly = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])")
        return self.everything or any(map(exactly.search, self.words))


_GIVEN: ContextVar[Given | None] = ContextVar("given", default=None)
"""None in Python, where whoever writes a name means it."""


_THERE: ContextVar[str | None] = ContextVar("there", default=None)
"""The folder that code of others has gone to."""


def given() -> Given | None:
    """Which names are followed here, for other processes."""
    return _GIVEN.get()


@contextmanager
def following(names: Given | None) -> Iterator[None]:
    """Follow these names of code, and no others."""
    token = _GIVEN.set(names)
    try:
        yield
    finally:
        _GIVEN.reset(token)


@contextmanager
def received(trust: bool = False) -> Iterator[None]:
    """While a file is read that may be somebody else's: names of code in it are followed if the user trusts it.

    Otherwise only those that were typed on the command line.
    """
    with following(Given(everything=True) if trust else given() or Given()):
        yield


def check_followed(name: str) -> None:
    """Raise `UntrustedError` when nobody at the keyboard has given a name of code."""
    if (known := given()) is None:
        return
    if not known.holds(name):
        raise UntrustedError(
            f"'{name}' names code in a file, and such code is not run unless you say so; if you trust it, add --trust "
            "(in Python: trust=True)"
        )
    known.followed.add(name)


class Registry(Mapping[str, Value]):
    """Values of one kind by their names; `module:name` finds one outside of this package.

    A value is anything with the `parts`, `name` among them. Our own are registered by the modules of `homes`, by name,
    which are imported when somebody looks: to import a registry imports none of what it lists.
    """

    def __init__(self, noun: str, parts: Sequence[str], homes: Mapping[str, str]) -> None:
        self.noun = noun
        self._parts = ("name", *parts)
        self._homes = dict(homes)
        self._values: dict[str, Value] = {}

    @property
    def own(self) -> tuple[str, ...]:
        """The names of our own values."""
        return tuple(self._homes)

    def register(self, value: Value) -> Value:
        """Add a value under its name; returns it, so that a class can be registered by decorating it."""
        self._check(value, getattr(value, "name", repr(value)))
        name: str = value.name  # type: ignore[attr-defined]
        if self._values.setdefault(name, value) is not value:
            raise ConfigError(f"there are two {self.noun}s called '{name}'; give one of them another name")
        return value

    def __getitem__(self, name: str) -> Value:
        """The value of a name, or what `module:name` says."""
        if name not in self._values and name in self._homes:
            import_module(self._homes[name])
        if name in self._values:
            return self._values[name]
        if ":" not in name:
            raise ConfigError(self.unknown(name))
        value: Value = import_value(name, self.noun)
        self._check(value, name)
        return value

    def __iter__(self) -> Iterator[str]:
        """Ours first, in their order."""
        return iter(dict.fromkeys((*self._homes, *self._values)))

    def __len__(self) -> int:
        return len(set(self))

    def __contains__(self, name: object) -> bool:
        return name in tuple(self)

    def unknown(self, name: str) -> str:
        """What to say about a name that nobody has registered."""
        return f"{unknown(self.noun, name, self)[:-1]}, or module:name for one of your own)"

    def _check(self, value: object, name: str) -> None:
        missing = [part for part in self._parts if not hasattr(value, part)]
        if missing:
            raise ConfigError(f"the {self.noun} '{name}' lacks {listing(missing)}")


def import_value(path: str, what: str = "value") -> Any:
    """What `module:name` stands for, if it may be followed; modules in the current folder are found too.

    A module that fails shows its own error, with the place in the user's file.
    """
    module, _, name = path.partition(":")
    if not module or not name:
        raise ConfigError(f"'{path}' names no {what}; write module:name, such as my_module:{what.upper()}")
    if module.endswith(".py"):
        raise ConfigError(f"'{path}' names a file; write the module without its ending: {module[:-3]}:{name}")
    found: Any = import_here(module, path, what)
    for part in name.split("."):
        if not hasattr(found, part):
            raise ModuleError(f"the module '{module}' has no '{name}'{suggestion(part, _nameable(found))}")
        found = getattr(found, part)
    return found


def _nameable(holder: Any) -> list[str]:
    """The names in a module that somebody may have meant: of what can be called or registered, not of its imports."""
    public = {name: getattr(holder, name, None) for name in dir(holder) if not name.startswith("_")}
    return [
        name
        for name, value in public.items()
        if not isinstance(value, ModuleType) and (callable(value) or hasattr(value, "name"))
    ]


def import_here(module: str, path: str, what: str) -> Any:
    """A module, also one of the current folder; `path` and `what` are what an error speaks of."""
    check_followed(path)
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        with following(None):  # code that runs means the names that it gives
            found = in_their_folder(import_module, module)
        sys.path.append(here)  # for what it imports later
        return found
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise ModuleError(f"importing '{path}' failed: {describe(error)}") from error
        raise MissingModuleError(
            f"the {what} '{path}' cannot be found: there is no module '{error.name}' here ({here}) or on Python's "
            "path; run the command in the folder that holds it, or add that folder to PYTHONPATH"
        ) from None
    except (Exception, SystemExit) as error:
        raise ModuleError(f"importing '{path}' failed: {describe(error)}") from error
    finally:
        sys.path.remove(here)


def in_their_folder(call: Callable[..., Value], *values: Any, **named: Any) -> Value:
    """Call code of others. Where it changes the current folder, it is there again next time, and we stay here."""
    here = os.getcwd()
    there = _THERE.get() or here
    if there != here:
        os.chdir(there)
    try:
        return call(*values, **named)
    finally:
        if (now := os.getcwd()) != there:
            _THERE.set(now)
        if now != here:
            os.chdir(here)
