"""Which named pattern a formula is: found by comparing machines, so however it is written, and in any language."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import permutations

from nrm.automata import Limits
from nrm.errors import LimitError, NrmWarning
from nrm.logic import PATTERNS, FormulaValue, Term
from nrm.machines import Alphabet, MooreMachine, Task

MAX_ATOMS = 4
"""Symbols up to which a part is compared with every pattern over them."""
LIMITS = Limits(states=500)
SEVERAL = ("visit", "global_avoidance", "sequenced_visit", "ordered_visit", "strictly_ordered_visit", "reach_avoid")
"""Patterns over any number of symbols, in the order in which they are preferred."""
ANY_ORDER = ("visit", "global_avoidance")
COUNTS = range(2, 6)
"""Numbers that counting patterns are tried with."""


def recognised(formula: FormulaValue, exclusive: bool, logic: str) -> str | None:
    """The pattern that a formula is, or the conjunction of patterns, as text; None where it is none."""
    whole = _pattern(formula, exclusive, logic)
    if whole is not None or not isinstance(formula, Term) or formula.op.name != "AND":
        return whole
    found: list[str] = []
    for part in formula.args:
        pattern = _pattern(part, exclusive, logic)
        if pattern is None:
            return None
        found.append(pattern)
    return " & ".join(_merged(found))


def _pattern(formula: FormulaValue, exclusive: bool, logic: str) -> str | None:
    atoms = formula.atoms()
    if not 1 <= len(atoms) <= MAX_ATOMS:
        return None
    alphabet = _alphabet(atoms, exclusive)
    machine = _machine(formula, alphabet, logic)
    if machine is None or machine.states == 1:
        return None
    return next((text for text in _calls(atoms) if _machine(text, alphabet, "ltlf") == machine), None)


def _alphabet(atoms: tuple[str, ...], exclusive: bool) -> Alphabet:
    if not exclusive:
        return Alphabet.propositional(atoms)
    other = f"not {' nor '.join(atoms)}"  # longer than any of them
    return Alphabet.exclusive([*atoms, other])


def _machine(formula: FormulaValue | str, alphabet: Alphabet, logic: str) -> MooreMachine | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NrmWarning)
        try:
            return Task(formula, alphabet, "acceptance", logic=logic).machine(LIMITS)  # type: ignore[arg-type]
        except LimitError:
            return None


def _calls(atoms: tuple[str, ...]) -> Iterator[str]:
    """Every call of a pattern over exactly these symbols, the plainest first."""
    names = [f'"{name}"' if not name.isidentifier() else name for name in atoms]
    if len(names) == 1:
        (one,) = names
        yield from (f"{pattern}({one})" for pattern in ("visit", "global_avoidance", "init", "at_most_once", "exactly"))
        yield from (f"{pattern}({one}, {n})" for n in COUNTS for pattern in ("existence", "absence", "exactly"))
        return
    orders = [", ".join(order) for order in permutations(names)]
    for pattern in SEVERAL:
        yield from (f"{pattern}({order})" for order in (orders[:1] if pattern in ANY_ORDER else orders))
    yield from (f"patrol({orders[0]}, {n})" for n in COUNTS)
    if len(names) == 2:
        pairs = [name for name in PATTERNS if PATTERNS[name].example.count(",") == 1 and name not in SEVERAL]
        counting = ("patrol", "existence", "exactly")
        yield from (f"{pattern}({order})" for pattern in pairs if pattern not in counting for order in orders)


def _merged(calls: list[str]) -> list[str]:
    """Visits and avoidances of single symbols as one call each."""
    together: dict[str, list[str]] = {}
    for call in calls:
        name, _, arguments = call.partition("(")
        together.setdefault(name if name in ANY_ORDER else call, []).append(arguments.removesuffix(")"))
    return [f"{key}({', '.join(arguments)})" if key in ANY_ORDER else key for key, arguments in together.items()]
