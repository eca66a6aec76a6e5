"""Named task patterns: the paper's, those of robotic missions, and the Declare family of process mining.

Each is a function from formulas (or symbol names) to a formula, and a name that formula text may call:
`visit(a, b) & global_avoidance(c)`. On finite traces "again and again" has no literal meaning (`G F a` only says that
the last step is an `a`), so `patrol` asks for a number of visits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from nrm.errors import FormulaError, suggestion
from nrm.logic.ltlf.formula import Formula, Op, atom, both, either, infix, prefix

Part: TypeAlias = Formula | str
"""A formula, or the name of a symbol."""

PatternArgument: TypeAlias = Formula | str | int

MAX_COUNT = 200
"""Largest number that a counting pattern takes."""


def visit(*places: Part) -> Formula:
    """Each place at least once, in any order: `F a & F b`."""
    return both(*(_eventually(place) for place in at_least_one("visit", places)))


def sequenced_visit(*places: Part) -> Formula:
    """One place after the other, others in between allowed: `F(a & F(b & F c))`."""
    chain = at_least_one("sequenced_visit", places)
    result = _eventually(chain[-1])
    for place in reversed(chain[:-1]):
        result = _eventually(both(place, result))
    return result


def global_avoidance(*places: Part) -> Formula:
    """None of the places, ever: `G !a & G !b`."""
    return both(*(_never(place) for place in at_least_one("global_avoidance", places)))


def ordered_visit(*places: Part) -> Formula:
    """A sequenced visit in which no place is visited before its predecessor: `F(a & F b) & (!b U a)`."""
    chain = at_least_one("ordered_visit", places)
    order = (infix(Op.UNTIL, ~after, before) for before, after in pairwise(chain))
    return both(sequenced_visit(*chain), *order)


def strictly_ordered_visit(*places: Part) -> Formula:
    """An ordered visit in which no place is visited twice before its successor."""
    chain = at_least_one("strictly_ordered_visit", places)
    once = (
        infix(Op.UNTIL, ~before, both(before, prefix(Op.NEXT, infix(Op.UNTIL, ~before, after))))
        for before, after in pairwise(chain)
    )
    return both(ordered_visit(*chain), *once)


def reach_avoid(goal: Part, *hazards: Part) -> Formula:
    """Reach the goal and touch no hazard before: `!(b | c) U a`. What comes after the goal is free."""
    return infix(Op.UNTIL, ~either(*at_least_one("reach_avoid", hazards)), as_formula(goal))


def patrol(*places: Part, rounds: int = 2) -> Formula:
    """Each place at least `rounds` times (default 2), in any order: `patrol(a, b, 3)`."""
    return both(*(existence(place, rounds) for place in at_least_one("patrol", places)))


def existence(event: Part, times: int = 1) -> Formula:
    """The event at least `times` times: `F(a & X F a)` for two."""
    part = as_formula(event)
    result = _eventually(part)
    for _ in range(checked_count(times) - 1):
        result = _eventually(both(part, prefix(Op.NEXT, result)))
    return result


def absence(event: Part, times: int = 1) -> Formula:
    """The event fewer than `times` times; by default never."""
    return _never(event) if checked_count(times) == 1 else ~existence(event, times)


def exactly(event: Part, times: int = 1) -> Formula:
    """The event exactly `times` times."""
    return both(existence(event, times), ~existence(event, checked_count(times, MAX_COUNT - 1) + 1))


def at_most_once(event: Part) -> Formula:
    """The event once or never."""
    return absence(event, 2)


def init(event: Part) -> Formula:
    """The event at the first step."""
    return as_formula(event)


def responded_existence(cause: Part, effect: Part) -> Formula:
    """If the cause occurs, so does the effect, before or after it."""
    return infix(Op.IMPLIES, _eventually(cause), _eventually(effect))


def coexistence(one: Part, other: Part) -> Formula:
    """Both events occur, or neither does."""
    return infix(Op.IFF, _eventually(one), _eventually(other))


def not_coexistence(one: Part, other: Part) -> Formula:
    """The two events do not both occur."""
    return ~both(_eventually(one), _eventually(other))


def response(cause: Part, effect: Part) -> Formula:
    """Every cause is followed by an effect, then or later: `G(a -> F b)`."""
    return _whenever(cause, _eventually(effect))


def precedence(cause: Part, effect: Part) -> Formula:
    """No effect before the first cause: `!b W a`."""
    return infix(Op.WEAK_UNTIL, ~as_formula(effect), as_formula(cause))


def succession(cause: Part, effect: Part) -> Formula:
    """Response and precedence together."""
    return both(response(cause, effect), precedence(cause, effect))


def alternate_response(cause: Part, effect: Part) -> Formula:
    """Every cause is followed by an effect before the next cause: `G(a -> X(!a U b))`."""
    return _whenever(cause, prefix(Op.NEXT, infix(Op.UNTIL, ~as_formula(cause), as_formula(effect))))


def alternate_precedence(cause: Part, effect: Part) -> Formula:
    """Before every effect there is a cause of its own: `(!b W a) & G(b -> WX(!b W a))`."""
    again = prefix(Op.WEAK_NEXT, precedence(cause, effect))
    return both(precedence(cause, effect), _whenever(effect, again))


def chain_response(cause: Part, effect: Part) -> Formula:
    """Every cause is followed at once by an effect: `G(a -> X b)`."""
    return _whenever(cause, prefix(Op.NEXT, as_formula(effect)))


def chain_precedence(cause: Part, effect: Part) -> Formula:
    """Every effect comes right after a cause: `!b & G(X b -> a)`."""
    return both(
        ~as_formula(effect),
        prefix(Op.ALWAYS, infix(Op.IMPLIES, prefix(Op.NEXT, as_formula(effect)), as_formula(cause))),
    )


@dataclass(frozen=True)
class Pattern:
    """A named pattern: its function, an example call and the formula which that stands for."""

    name: str
    build: Callable[..., Formula]
    example: str

    @property
    def summary(self) -> str:
        """The first line of the function's documentation, without its example."""
        return (inspect.getdoc(self.build) or "").splitlines()[0].split(": `")[0].rstrip(".").replace("`", "")


_EXAMPLES: dict[Callable[..., Formula], str] = {
    visit: "visit(a, b)",
    sequenced_visit: "sequenced_visit(a, b)",
    global_avoidance: "global_avoidance(a, b)",
    ordered_visit: "ordered_visit(a, b)",
    strictly_ordered_visit: "strictly_ordered_visit(a, b)",
    reach_avoid: "reach_avoid(a, b)",
    patrol: "patrol(a, b, 2)",
    existence: "existence(a, 2)",
    absence: "absence(a)",
    exactly: "exactly(a, 1)",
    at_most_once: "at_most_once(a)",
    init: "init(a)",
    responded_existence: "responded_existence(a, b)",
    coexistence: "coexistence(a, b)",
    not_coexistence: "not_coexistence(a, b)",
    response: "response(a, b)",
    precedence: "precedence(a, b)",
    succession: "succession(a, b)",
    alternate_response: "alternate_response(a, b)",
    alternate_precedence: "alternate_precedence(a, b)",
    chain_response: "chain_response(a, b)",
    chain_precedence: "chain_precedence(a, b)",
}

PATTERNS: dict[str, Pattern] = {f.__name__: Pattern(f.__name__, f, text) for f, text in _EXAMPLES.items()}


def apply_pattern(
    name: str, arguments: Sequence[PatternArgument], builders: Mapping[str, Callable[..., Formula]] | None = None
) -> Formula:
    """Call the pattern `name`: formulas first, and for the counting patterns a number last.

    `builders`: other functions for the same patterns, where formulas are read in another way.
    """
    if name not in PATTERNS:
        raise FormulaError(f"unknown pattern '{name}'{suggestion(name, PATTERNS)}")
    pattern = PATTERNS[name]
    parts = [argument for argument in arguments if not isinstance(argument, int)]
    numbers = [argument for argument in arguments if isinstance(argument, int)]
    signature = inspect.signature(pattern.build)
    counting = next((key for key in ("times", "rounds") if key in signature.parameters), None)
    if numbers and counting is None:
        raise FormulaError(f"pattern '{name}' takes no number, but got {numbers[0]} (example: {pattern.example})")
    if len(numbers) > 1 or (numbers and not isinstance(arguments[-1], int)):
        raise FormulaError(f"pattern '{name}' takes one number, as its last argument (example: {pattern.example})")
    named = {counting: numbers[0]} if numbers and counting else {}
    try:
        bound = signature.bind(*parts, **named)
    except TypeError:
        raise FormulaError(
            f"pattern '{name}' does not take {len(parts)} formulas{' and a number' if numbers else ''} "
            f"(example: {pattern.example})"
        ) from None
    if counting and not isinstance(given := bound.arguments.get(counting, 1), int):
        raise FormulaError(
            f"pattern '{name}' takes a number from 1 to {MAX_COUNT}, not {given}, as its last argument "
            f"(example: {pattern.example})"
        )
    return (builders or {}).get(name, pattern.build)(*parts, **named)


def as_formula(part: Part) -> Formula:
    """A formula as it is, or that of a symbol."""
    return atom(part) if isinstance(part, str) else part


def at_least_one(name: str, parts: Sequence[Part]) -> list[Formula]:
    """The formulas of a pattern that takes any number of them but none."""
    if not parts:
        raise FormulaError(f"pattern '{name}' needs at least one more argument (example: {PATTERNS[name].example})")
    return [as_formula(part) for part in parts]


def checked_count(times: int, most: int = MAX_COUNT) -> int:
    """A number that a pattern can count to."""
    if not isinstance(times, int) or not 1 <= times <= most:
        raise FormulaError(f"counting patterns take a number from 1 to {most}, not {times}")
    return times


def _eventually(part: Part) -> Formula:
    return prefix(Op.EVENTUALLY, as_formula(part))


def _never(part: Part) -> Formula:
    return prefix(Op.ALWAYS, ~as_formula(part))


def _whenever(cause: Part, consequence: Formula) -> Formula:
    return prefix(Op.ALWAYS, infix(Op.IMPLIES, as_formula(cause), consequence))
