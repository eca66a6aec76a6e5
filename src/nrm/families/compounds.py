"""Tasks made of several parts: conjunctions, nests of until, things that undo others, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nrm.families.chains import chain, check_least, check_range, pick
from nrm.families.registry import FAMILIES
from nrm.logic import Formula
from nrm.logic.ltlf.formula import Op, both, either, infix, prefix

MAX_UNDOING = 2
"""Events that undo a step, at most."""
MAX_FORBIDDEN = 3
"""Events that must never happen, at most."""


@dataclass(frozen=True)
class Conjunctions:
    """Several chains in any order: `F(a & F b) & F c`."""

    name: ClassVar[str] = "conjunctions"
    label: ClassVar[str] = "several chains in any order"
    example: ClassVar[str] = "F(a & F b) & F c"
    events: ClassVar[int] = 2

    parts: int = 2
    """Most chains; two are the least."""
    longest: int = 2
    """Most steps of each chain."""
    choices: int = 2
    """Most events of which one is enough, at each step."""

    def __post_init__(self) -> None:
        check_least(self, "parts", 2)
        check_least(self, "longest", 1)
        check_least(self, "choices", 1)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A conjunction of chains."""
        count = int(generator.integers(2, self.parts + 1))
        lengths = generator.integers(1, self.longest + 1, count).tolist()
        return both(*(chain(events, length, self.choices, 0, generator) for length in lengths))


@dataclass(frozen=True)
class UntilNests:
    """Nests of until, one or several at once: `(!a U (b & (!c U d))) & (!d U e)`."""

    name: ClassVar[str] = "until"
    label: ClassVar[str] = "nests of until, several at once"
    example: ClassVar[str] = "(!a U (b & (!c U d))) & (!e U f)"
    events: ClassVar[int] = 3

    parts: int = 2
    """Most nests."""
    longest: int = 3
    """Most steps of each nest."""
    choices: int = 2
    """Most events of which one is enough, at each step."""
    avoided: int = 2
    """Most events to avoid, at each step; one is the least."""

    def __post_init__(self) -> None:
        for field in ("parts", "longest", "choices", "avoided"):
            check_least(self, field, 1)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A conjunction of nests."""
        count = int(generator.integers(1, self.parts + 1))
        lengths = generator.integers(1, self.longest + 1, count).tolist()
        return both(*(chain(events, length, self.choices, self.avoided, generator) for length in lengths))


@dataclass(frozen=True)
class SetBacks:
    """Things that undo others: in `F(a & (!b U c))` b takes one back to before a."""

    name: ClassVar[str] = "set-backs"
    label: ClassVar[str] = "one thing undoes another"
    example: ClassVar[str] = "F(a & (!b U c)) & F d"
    events: ClassVar[int] = 3

    longest: int = 2
    """Most steps that come after the first and can be undone."""

    def __post_init__(self) -> None:
        check_least(self, "longest", 1)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A chain whose later steps can be undone, and perhaps others beside it."""
        (first,) = pick(events, 1, 1, generator)
        steps: list[tuple[Formula, list[Formula]]] = []
        before = first
        for _ in range(int(generator.integers(1, self.longest + 1))):
            left = [event for event in events if event != before]
            (goal,) = pick(left, 1, 1, generator)
            steps.append((goal, pick([event for event in left if event != goal], 1, MAX_UNDOING, generator)))
            before = goal
        later: Formula | None = None
        for goal, undoing in reversed(steps):
            later = infix(Op.UNTIL, ~either(*undoing), goal if later is None else both(goal, later))
        assert later is not None
        task = prefix(Op.EVENTUALLY, both(first, later))
        count = int(generator.integers(0, 2))
        return both(task, *(chain(events, int(generator.integers(1, 3)), 2, 0, generator) for _ in range(count)))


@dataclass(frozen=True)
class BegunSetBacks:
    """Set-backs whose first step is done: of `(!b U c) | F(a & (!b U c))` b still takes one to before a.

    Without them an agent meets what can be undone only where it has just done it, and the ways round what undoes have
    to be found from there by chance.
    """

    name: ClassVar[str] = "begun-set-backs"
    label: ClassVar[str] = "one thing undoes another, which is already done"
    example: ClassVar[str] = "(!b U c) | F(a & (!b U c))"
    events: ClassVar[int] = 3

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A goal that is the last step of a chain whose first one can be undone."""
        first, goal = pick(events, 2, 2, generator)
        undoing = pick([event for event in events if event not in (first, goal)], 1, MAX_UNDOING, generator)
        last = infix(Op.UNTIL, ~either(*undoing), goal)
        return either(last, prefix(Op.EVENTUALLY, both(first, last)))


@dataclass(frozen=True)
class Avoidance:
    """Chains with things that must never happen: `F(a & F b) & G !c`."""

    name: ClassVar[str] = "avoidance"
    label: ClassVar[str] = "chains, and things that must never happen"
    example: ClassVar[str] = "F(a & F b) & G !c"
    events: ClassVar[int] = 2

    shortest: int = 1
    """Least steps of each chain."""
    longest: int = 3
    """Most steps of each chain."""
    parts: int = 2
    """Most chains, in any order."""

    def __post_init__(self) -> None:
        check_range(self, "shortest", "longest")
        check_least(self, "parts", 1)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """Chains over the events that may happen."""
        most = min(MAX_FORBIDDEN, max(1, len(events) - 2))
        never = pick(events, 1, most, generator)
        allowed = [event for event in events if event not in never]
        count = int(generator.integers(1, self.parts + 1))
        lengths = generator.integers(self.shortest, self.longest + 1, count).tolist()
        chains = (chain(allowed, length, 2, 0, generator) for length in lengths)
        return both(*chains, *(prefix(Op.ALWAYS, ~event) for event in never))


@dataclass(frozen=True)
class Conditionals:
    """Duties until the goal: `((a | b) -> F(c & F d)) U (e & F f)`."""

    name: ClassVar[str] = "conditionals"
    label: ClassVar[str] = "until the goal, some things oblige to others"
    example: ClassVar[str] = "((a | b) -> F(c & F d)) U (e & F f)"
    events: ClassVar[int] = 3

    conditions: int = 4
    """Most events that oblige."""
    longest: int = 3
    """Most steps of the duty, and of the goal."""

    def __post_init__(self) -> None:
        check_least(self, "conditions", 1)
        check_least(self, "longest", 1)

    def draw(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """A condition inside `U`."""
        causes = pick(events, 1, min(self.conditions, len(events) - 2), generator)
        others = [event for event in events if event not in causes]
        duty = chain(others, int(generator.integers(1, self.longest + 1)), 1, 0, generator)
        return infix(Op.UNTIL, infix(Op.IMPLIES, either(*causes), duty), self._end(others, generator))

    def _end(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """The goal: something to reach, and perhaps a chain after it."""
        (goal,) = pick(events, 1, 1, generator)
        after = int(generator.integers(0, self.longest))
        return both(goal, chain(events, after, 1, 0, generator)) if after else goal


@dataclass(frozen=True)
class Alternatives(Conditionals):
    """Duties until one of several goals: `(a -> F b) U (c | (d & F e))`. The nearer one may come with more duties."""

    name: ClassVar[str] = "alternatives"
    label: ClassVar[str] = "until one of several goals, some things oblige to others"
    example: ClassVar[str] = "(a -> F b) U (c | (d & F e))"

    conditions: int = 2
    """Most events that oblige."""
    longest: int = 2
    """Most steps of the duty, and of each goal."""
    goals: int = 2
    """Most goals; one is the least."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(self, "goals", 1)

    def _end(self, events: Sequence[Formula], generator: np.random.Generator) -> Formula:
        """Any of some goals."""
        count = int(generator.integers(1, self.goals + 1))
        return either(*(Conditionals._end(self, events, generator) for _ in range(count)))


for _family in (Conjunctions, UntilNests, SetBacks, BegunSetBacks, Avoidance, Conditionals, Alternatives):
    FAMILIES.register(_family)
