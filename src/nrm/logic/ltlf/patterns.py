"""Named task patterns: the paper's, those of robotic missions, and the Declare family of process mining.

Each is a function from formulas (or symbol names) to a formula, and a name that formula text may call:
`visit(a, b) & global_avoidance(c)`. On finite traces "again and again" has no literal meaning (`G F a` only says that
the last step is an `a`), so `patrol` asks for a number of visits.
"""

from __future__ import annotations

import inspect
import re
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
    """Each place at least N times (default 2), in any order: `patrol(a, b, 3)`."""
    return both(*(existence(place, rounds) for place in at_least_one("patrol", places)))


def existence(event: Part, times: int = 1) -> Formula:
    """The event at least N times: `F(a & X F a)` for two."""
    part = as_formula(event)
    result = _eventually(part)
    for _ in range(checked_count(times) - 1):
        result = _eventually(both(part, prefix(Op.NEXT, result)))
    return result


def absence(event: Part, times: int = 1) -> Formula:
    """The event fewer than N times; by default never."""
    return _never(event) if checked_count(times) == 1 else ~existence(event, times)


def exactly(event: Part, times: int = 1) -> Formula:
    """The event exactly N times; by default once."""
    return both(existence(event, times), ~existence(event, checked_count(times, MAX_COUNT - 1) + 1))


def at_most_once(event: Part) -> Formula:
    """The event once or never."""
    return absence(event, 2)


@dataclass(frozen=True)
class Written:
    """A pattern of an event a, or of a cause a and an effect b, as it is written in two languages."""

    summary: str
    future: str
    """In LTLf, at the first step."""
    past: str
    """In pure-past LTL, at the last step."""


WRITTEN: Mapping[str, Written] = {
    "init": Written("The event at the first step", "a", "O(a & !Y true)"),
    "responded_existence": Written(
        "If the cause occurs, so does the effect, before or after it", "F a -> F b", "O a -> O b"
    ),
    "coexistence": Written("Both events occur, or neither does", "F a <-> F b", "O a <-> O b"),
    "not_coexistence": Written("The two events do not both occur", "!(F a & F b)", "!(O a & O b)"),
    "response": Written("Every cause is followed by an effect, then or later", "G(a -> F b)", "!(!b S (a & !b))"),
    "precedence": Written("No effect before the first cause", "!b W a", "H(b -> O a)"),
    "succession": Written(
        "Response and precedence together", "G(a -> F b) & (!b W a)", "!(!b S (a & !b)) & H(b -> O a)"
    ),
    "alternate_response": Written(
        "Every cause is followed by an effect before the next cause",
        "G(a -> X(!a U b))",
        "!(!b S a) & H(a & Y(!b S a) -> b)",
    ),
    "alternate_precedence": Written(
        "Before every effect there is a cause of its own",
        "(!b W a) & G(b -> WX(!b W a))",
        "H(b -> a | Y(!b S (a & !b)))",
    ),
    "chain_response": Written("Every cause is followed at once by an effect", "G(a -> X b)", "!a & H(Y a -> b)"),
    "chain_precedence": Written("Every effect comes right after a cause", "!b & G(X b -> a)", "H(b -> Y a)"),
}


def filled(text: str) -> Callable[..., Formula]:
    """A pattern from its text: what it gives for an event, or for a cause and an effect."""

    def of_two(a: Part, b: Part) -> Formula:
        from nrm.logic.ltlf.parser import parse  # which reads patterns

        return parse(text).replaced({"a": as_formula(a), "b": as_formula(b)}, flat=("AND", "OR"))

    def of_one(a: Part) -> Formula:
        return of_two(a, a)

    return of_two if re.search(r"\bb\b", text) else of_one


@dataclass(frozen=True)
class Pattern:
    """A named pattern: its function, an example call and what it says."""

    name: str
    build: Callable[..., Formula]
    example: str
    summary: str


def _of_function(build: Callable[..., Formula], arguments: str) -> Pattern:
    """What it says is the first line of the function's documentation, without its example."""
    said = (inspect.getdoc(build) or "").splitlines()[0].split(": `")[0].rstrip(".").replace("`", "")
    return Pattern(build.__name__, build, f"{build.__name__}({arguments})", said)


def _of_text(name: str, written: Written) -> Pattern:
    arguments = "a" if name == "init" else "a, b"
    return Pattern(name, filled(written.future), f"{name}({arguments})", written.summary)


PATTERNS: dict[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
        _of_function(visit, "a, b"),
        _of_function(sequenced_visit, "a, b"),
        _of_function(global_avoidance, "a, b"),
        _of_function(ordered_visit, "a, b"),
        _of_function(strictly_ordered_visit, "a, b"),
        _of_function(reach_avoid, "a, b"),
        _of_function(patrol, "a, b, 2"),
        _of_function(existence, "a, 2"),
        _of_function(absence, "a"),
        _of_function(exactly, "a, 1"),
        _of_function(at_most_once, "a"),
        *(_of_text(name, written) for name, written in WRITTEN.items()),
    )
}


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
