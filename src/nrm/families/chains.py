"""Chains: one thing after the other, with or without things to avoid on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nrm.errors import ConfigError
from nrm.families.registry import FAMILIES
from nrm.logic import Formula
from nrm.logic.ltlf.formula import Op, both, either, infix, prefix


@dataclass(frozen=True)
class Reach:
    """Chains to reach: `F((a | b) & F c)`."""

    name: ClassVar[str] = "reach"
    label: ClassVar[str] = "one thing after the other"
    example: ClassVar[str] = "F((a | b) & F c)"
    events: ClassVar[int] = 2

    shortest: int = 1
    """Least steps of a chain."""
    longest: int = 3
    """Most steps of a chain."""
    choices: int = 3
    """Most events of which one is enough, at each step."""

    def __post_init__(self) -> None:
        check_range(self, "shortest", "longest")
        check_least(self, "choices", 1)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A chain without anything to avoid."""
        length = int(generator.integers(self.shortest, self.longest + 1))
        return chain(events, length, self.choices, 0, generator)


@dataclass(frozen=True)
class ReachAvoid(Reach):
    """Chains with things to avoid before each step: `!c U (a & (!(a | d) U b))`."""

    name: ClassVar[str] = "reach-avoid"
    label: ClassVar[str] = "one thing after the other, with things to avoid"
    example: ClassVar[str] = "!c U (a & (!d U b))"
    events: ClassVar[int] = 3

    avoided: int = 3
    """Most events to avoid, at each step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(self, "avoided", 0)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A chain."""
        length = int(generator.integers(self.shortest, self.longest + 1))
        return chain(events, length, self.choices, self.avoided, generator)


@dataclass(frozen=True)
class Exceptions(ReachAvoid):
    """Chains with things to avoid unless others hold as well: `!(a & !b) U c`.

    Where events can hold together, what is to be avoided then has holes. An agent that has met such holes only where
    they were its goals takes every hole for one. Of an event that is several things at once, one is avoided unless the
    others hold, so that there is a hole.
    """

    name: ClassVar[str] = "exceptions"
    label: ClassVar[str] = "one thing after the other, with things to avoid unless others hold"
    example: ClassVar[str] = "!(a & !b) U c"
    alone: ClassVar[str] = "'unless others hold' says nothing: !(a & !b) is !a, as in reach-avoid"
    """What becomes of it where one symbol holds at a time."""

    longest: int = 2
    """Most steps of a chain."""

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A chain."""
        length = int(generator.integers(self.shortest, self.longest + 1))
        return chain(events, length, self.choices, self.avoided, generator, spared=True)


def chain(
    events: Sequence[Formula],
    length: int,
    choices: int,
    avoided: int,
    generator: np.random.Generator,
    spared: bool = False,
) -> Formula:
    """A chain of so many steps, each one of up to `choices` events after none of up to `avoided` others.

    With `spared`, what is avoided is avoided only while another event, drawn for it, does not hold. A step neither
    repeats the events of the one before, since one letter could then do both, nor avoids them, since the letter that
    ends a step begins the next one.
    """
    steps: list[tuple[list[Formula], list[Formula]]] = []
    before: list[Formula] = []
    for _ in range(length):
        others = [event for event in events if event not in before]
        reach = pick(others, 1, min(choices, max(1, len(others) - 1)), generator)
        left = [event for event in others if event not in reach]
        avoid = pick(left, 0, min(avoided, len(left)), generator)
        if spared:
            avoid = [_spared(event, events, generator) for event in avoid]
        steps.append((reach, avoid))
        before = reach
    result: Formula | None = None
    for reach, avoid in reversed(steps):
        goal = either(*reach) if result is None else both(either(*reach), result)
        result = infix(Op.UNTIL, ~either(*avoid), goal) if avoid else prefix(Op.EVENTUALLY, goal)
    assert result is not None
    return result


def _spared(event: Formula, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
    """The event while something else does not hold: another event or, of several things at once, all but one."""
    if event.op is Op.AND:
        first, *others = pick(event.args, len(event.args), len(event.args), generator)
        return both(first, ~both(*others))
    return both(event, ~pick([one for one in events if one != event], 1, 1, generator)[0])


def pick(events: Sequence[Formula], least: int, most: int, generator: np.random.Generator) -> list[Formula]:
    """So many different events, as many as a draw between `least` and `most` says."""
    count = int(generator.integers(least, max(least, most) + 1))
    return [events[int(place)] for place in generator.permutation(len(events))[:count]]


def check_range(family: object, low: str, high: str) -> None:
    """Raise `ConfigError` unless 1 <= low <= high, of two fields of a family."""
    least, most = getattr(family, low), getattr(family, high)
    if not 1 <= least <= most:
        raise ConfigError(f"{low} and {high} count from 1, {low} at most {high}; they are {least} and {most}")


def check_least(family: object, field: str, least: int) -> None:
    """Raise `ConfigError` where a field of a family is too small."""
    if getattr(family, field) < least:
        raise ConfigError(f"{field} is at least {least}, not {getattr(family, field)}")


FAMILIES.register(Reach)
FAMILIES.register(ReachAvoid)
FAMILIES.register(Exceptions)
