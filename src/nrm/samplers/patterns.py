"""Formulas of named patterns: one template, whose sizes are drawn, over events that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from nrm.logic import Formula, Op, both, either, global_avoidance, infix, prefix, sequenced_visit, visit

if TYPE_CHECKING:
    from nrm.samplers.registry import TemplateSampler

Events: TypeAlias = Sequence[Formula]
Draw: TypeAlias = Callable[["TemplateSampler", Events, np.random.Generator], Formula]
_UNARY = (Op.EVENTUALLY, Op.EVENTUALLY, Op.NOT, Op.ALWAYS)
_BINARY = (Op.AND, Op.AND, Op.OR, Op.UNTIL, Op.UNTIL, Op.IMPLIES)


class Size(NamedTuple):
    """A setting of a pattern."""

    usual: int
    least: int = 1


@dataclass(frozen=True)
class Pattern:
    """A kind of formulas."""

    label: str
    """How people read it."""
    example: str
    """A formula of the kind, over a, b, c, …"""
    events: int
    """How many different events it needs at least."""
    draw: Draw
    sizes: Mapping[str, Size] = field(default_factory=dict)
    """The settings that it has."""
    alone: str = ""
    """What it loses where one symbol holds at a time."""


def chain(
    events: Events, length: int, choices: int, avoided: int, generator: np.random.Generator, spared: bool = False
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


def _spared(event: Formula, events: Events, generator: np.random.Generator) -> Formula:
    """The event while something else does not hold: another event or, of several things at once, all but one."""
    if event.op is Op.AND:
        first, *others = pick(event.args, len(event.args), len(event.args), generator)
        return both(first, ~both(*others))
    return both(event, ~pick([one for one in events if one != event], 1, 1, generator)[0])


def pick(events: Events, least: int, most: int, generator: np.random.Generator) -> list[Formula]:
    """So many different events, as many as a draw between `least` and `most` says."""
    count = int(generator.integers(least, max(least, most) + 1))
    return [events[int(place)] for place in generator.permutation(len(events))[:count]]


def _one_chain(spared: bool = False) -> Draw:
    """One chain, with or without things to avoid."""

    def draw(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
        length = int(generator.integers(sizes.at("min_steps"), sizes.at("max_steps") + 1))
        return chain(events, length, sizes.at("max_choices"), sizes.at("max_avoided"), generator, spared)

    return draw


def _several_chains(least: int) -> Draw:
    """At least so many chains, in any order."""

    def draw(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
        count = int(generator.integers(least, sizes.at("max_parts") + 1))
        lengths = generator.integers(1, sizes.at("max_steps") + 1, count).tolist()
        each = sizes.at("max_choices"), sizes.at("max_avoided")
        return both(*(chain(events, length, *each, generator) for length in lengths))

    return draw


def _resettable(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
    """A chain whose later steps can be undone by one or two events, and perhaps another beside it."""
    (first,) = pick(events, 1, 1, generator)
    steps: list[tuple[Formula, list[Formula]]] = []
    before = first
    for _ in range(int(generator.integers(1, sizes.at("max_steps") + 1))):
        left = [event for event in events if event != before]
        (goal,) = pick(left, 1, 1, generator)
        steps.append((goal, pick([event for event in left if event != goal], 1, 2, generator)))
        before = goal
    later: Formula | None = None
    for goal, undoing in reversed(steps):
        later = infix(Op.UNTIL, ~either(*undoing), goal if later is None else both(goal, later))
    assert later is not None
    task = prefix(Op.EVENTUALLY, both(first, later))
    count = int(generator.integers(0, 2))
    return both(task, *(chain(events, int(generator.integers(1, 3)), 2, 0, generator) for _ in range(count)))


def _mid_resettable(_: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
    """A goal that is the last step of a chain whose first one is done, and can be undone.

    Without such tasks an agent meets what can be undone only where it has just done it.
    """
    first, goal = pick(events, 2, 2, generator)
    undoing = pick([event for event in events if event not in (first, goal)], 1, 2, generator)
    last = infix(Op.UNTIL, ~either(*undoing), goal)
    return either(last, prefix(Op.EVENTUALLY, both(first, last)))


def _avoidance(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
    """Chains over the events that may happen; up to three never may."""
    never = pick(events, 1, min(3, max(1, len(events) - 2)), generator)
    allowed = [event for event in events if event not in never]
    count = int(generator.integers(1, sizes.at("max_parts") + 1))
    lengths = generator.integers(sizes.at("min_steps"), sizes.at("max_steps") + 1, count).tolist()
    chains = (chain(allowed, length, 2, 0, generator) for length in lengths)
    return both(*chains, *(prefix(Op.ALWAYS, ~event) for event in never))


def _conditional(conditions: int, goals: int) -> Draw:
    """Until one of so many goals, some of so many events oblige to a chain."""

    def goal(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
        (first,) = pick(events, 1, 1, generator)
        after = int(generator.integers(0, sizes.at("max_steps")))
        return both(first, chain(events, after, 1, 0, generator)) if after else first

    def draw(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
        causes = pick(events, 1, min(conditions, len(events) - 2), generator)
        others = [event for event in events if event not in causes]
        duty = chain(others, int(generator.integers(1, sizes.at("max_steps") + 1)), 1, 0, generator)
        count = int(generator.integers(1, goals + 1)) if goals > 1 else 1
        end = either(*(goal(sizes, others, generator) for _ in range(count)))
        return infix(Op.UNTIL, infix(Op.IMPLIES, either(*causes), duty), end)

    return draw


def _random(_: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
    """Four to twelve operators and events: whatever can be said."""

    def one(operators: Sequence[Op]) -> Op:
        return operators[int(generator.integers(len(operators)))]

    def tree(size: int) -> Formula:
        if size <= 1:
            return events[int(generator.integers(len(events)))]
        if size == 2 or generator.random() < 0.35:
            return prefix(one(_UNARY), tree(size - 1))
        left = int(generator.integers(1, size - 1))
        parts = tree(left), tree(size - 1 - left)
        chosen = one(_BINARY)
        flat = {Op.AND: both, Op.OR: either}
        return flat[chosen](*parts) if chosen in flat else infix(chosen, *parts)

    return tree(int(generator.integers(4, 13)))


def _paper(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
    """A conjunction of the paper's patterns over different events."""
    order = [events[int(place)] for place in generator.permutation(len(events))]
    length = int(generator.integers(0, min(sizes.at("max_steps"), len(order)) + 1))
    first, rest = order[:length], order[length:]
    least = 0 if first else 1
    visits = int(generator.integers(least, max(least, min(sizes.at("max_parts"), len(rest))) + 1))
    places, rest = rest[:visits], rest[visits:]
    hazards = rest[: int(generator.integers(0, min(sizes.at("max_avoided"), len(rest)) + 1))]
    parts = [sequenced_visit(*first)] if first else []
    parts += [visit(*places)] if places else []
    parts += [global_avoidance(*hazards)] if hazards else []
    return both(*parts)


def _stay(sizes: TemplateSampler, events: Events, generator: np.random.Generator) -> Formula:
    """One or two events, at so many steps in a row."""
    result = event = either(*pick(events, 1, min(2, len(events)), generator))
    for _ in range(int(generator.integers(1, sizes.at("max_steps")))):
        result = both(event, prefix(Op.NEXT, result))
    return prefix(Op.EVENTUALLY, result)


_STEPS = {"min_steps": Size(1), "max_steps": Size(3)}
_CHAIN = {**_STEPS, "max_choices": Size(3)}
PATTERNS = {
    "reach": Pattern("one symbol after the other", "F((a | b) & F c)", 2, _one_chain(), _CHAIN),
    "reach-avoid": Pattern(
        "one symbol after the other, with symbols to avoid",
        "!c U (a & (!d U b))",
        3,
        _one_chain(),
        {**_CHAIN, "max_avoided": Size(3, 0)},
    ),
    # Where events can hold together, what is to be avoided then has holes. An agent that has met such holes only where
    # they were its goals takes every hole for one.
    "avoid-except": Pattern(
        "one symbol after the other, with symbols to avoid unless others hold",
        "!(a & !b) U c",
        3,
        _one_chain(spared=True),
        {**_CHAIN, "max_steps": Size(2), "max_avoided": Size(3, 0)},
        "'unless others hold' says nothing: !(a & !b) is !a, as in reach-avoid",
    ),
    "conjunctions": Pattern(
        "several sequences in any order",
        "F(a & F b) & F c",
        2,
        _several_chains(2),
        {"max_parts": Size(2, 2), "max_steps": Size(2), "max_choices": Size(2)},
    ),
    "until": Pattern(
        "nested until, several at once",
        "(!a U (b & (!c U d))) & (!e U f)",
        3,
        _several_chains(1),
        {"max_parts": Size(2), "max_steps": Size(3), "max_choices": Size(2), "max_avoided": Size(2)},
    ),
    "resettable": Pattern(
        "sequences that can be undone", "F(a & (!b U c)) & F d", 3, _resettable, {"max_steps": Size(2)}
    ),
    "mid-resettable": Pattern("the same, started in the middle", "(!b U c) | F(a & (!b U c))", 3, _mid_resettable),
    "avoidance": Pattern(
        "sequences, and symbols that must never occur",
        "F(a & F b) & G !c",
        2,
        _avoidance,
        {**_STEPS, "max_parts": Size(2)},
    ),
    "conditionals": Pattern(
        "until the goal, some symbols require others",
        "((a | b) -> F(c & F d)) U (e & F f)",
        3,
        _conditional(conditions=4, goals=1),
        {"max_steps": Size(3)},
    ),
    "branching": Pattern(
        "the same until one of several goals",
        "(a -> F b) U (c | (d & F e))",
        3,
        _conditional(conditions=2, goals=2),
        {"max_steps": Size(2)},
    ),
    "stay": Pattern(
        "one of up to two symbols at several steps in a row", "F(a & X(a & X a))", 1, _stay, {"max_steps": Size(5, 2)}
    ),
    "random": Pattern("random operators, of a given size", "F(a & (b U F c)) & (d -> F e)", 2, _random),
    "paper": Pattern(
        "the patterns of the paper",
        "sequenced_visit(a, b) & visit(c) & global_avoidance(d)",
        2,
        _paper,
        {"max_steps": Size(2), "max_parts": Size(2, 0), "max_avoided": Size(2, 0)},
    ),
}
"""By the names of their samplers."""
