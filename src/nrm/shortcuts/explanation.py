"""What a formula says, for somebody who has written it or found it; and how it differs from another one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from nrm.aliases import Step
from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.errors import LimitError, NrmWarning
from nrm.logic import (
    DEFAULT_LOGIC,
    LANGUAGES,
    LOOKS_BACK,
    PATTERNS,
    FormulaValue,
    Term,
    inherited_logic,
    looks_back,
    read_formula,
)
from nrm.machines import Alphabet, MooreMachine, Task, product, shortest_trace
from nrm.shortcuts.analysis import Shortcuts, shortcuts


@dataclass(frozen=True)
class Comparison:
    """How two tasks over one alphabet differ."""

    only_first: tuple[Step, ...] | None
    """A shortest trace that satisfies the first and not the second; None if there is none."""
    only_second: tuple[Step, ...] | None
    """A shortest trace that satisfies the second and not the first."""

    @property
    def equivalent(self) -> bool:
        """Whether they are satisfied by the same traces."""
        return self.only_first is None and self.only_second is None

    @property
    def shortest(self) -> tuple[Step, ...] | None:
        """A shortest trace that separates them."""
        found = [trace for trace in (self.only_first, self.only_second) if trace is not None]
        return min(found, key=len) if found else None


def compare(left: MooreMachine, right: MooreMachine) -> Comparison:
    """Compare what two machines accept."""
    # Potentials of the product number the four cases: which of the two accepts.
    one, two = (machine.with_outputs(machine.accepting.astype(np.float64)) for machine in (left, right))
    both = product(one, two, output=lambda a, b: a + 2 * b)
    return Comparison(shortest_trace(both, both.outputs == 1), shortest_trace(both, both.outputs == 2))


@dataclass(frozen=True)
class Explanation:
    """An explained task; each answer is computed on first use."""

    task: Task
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def machine(self) -> MooreMachine:
        """The minimal machine."""
        return self.task.machine(self.limits)

    @property
    def words(self) -> str:
        """The formula in plain English; empty if its language has no words."""
        words = getattr(LANGUAGES[self.task.logic], "words", None)
        return "" if words is None else str(words(self.task.formula))

    @cached_property
    def pattern(self) -> str | None:
        """The named pattern, or a conjunction of patterns; None for other tasks."""
        return recognised(self.task.formula, self.task.alphabet.is_exclusive, self.task.logic)

    @cached_property
    def satisfying(self) -> tuple[Step, ...] | None:
        """A shortest trace that satisfies it; None if none does."""
        return shortest_trace(self.machine, self.machine.accepting)

    @cached_property
    def violating(self) -> tuple[Step, ...] | None:
        """A shortest trace after which the task can no longer be satisfied; None if there is none."""
        return shortest_trace(self.machine, self.machine.dead)

    @cached_property
    def unsatisfying(self) -> tuple[Step, ...] | None:
        """A shortest trace that does not satisfy it, though a longer one may; None if every trace does."""
        return shortest_trace(self.machine, ~self.machine.accepting)

    @property
    def undoable(self) -> bool:
        """Whether a satisfied task can be violated by later steps."""
        machine = self.machine
        states = (state for state in range(machine.states) if machine.accepting[state])
        return any(not machine.accepting[target] for state in states for target in machine.targets(state))

    def rows(self) -> list[tuple[str, str]]:
        """What it says, in a few lines with headings."""
        rows = [("in words", self.words)] if self.words else []
        rows.append(("pattern", self.pattern or "none of the named ones"))
        if self.satisfying is None:
            back = self.task.logic == DEFAULT_LOGIC and looks_back(self.task.formula)
            return [*rows, ("satisfied", "never: no trace satisfies it" + (f". {LOOKS_BACK}" if back else ""))]
        if self.unsatisfying is None:
            return [*rows, ("satisfied", "always: every trace satisfies it")]
        later = "; later steps can undo it" if self.undoable else ", whatever follows"
        rows.append(("satisfied", f"by {trace_text(self.satisfying)}{later}"))
        if self.violating is not None:
            return [*rows, ("violated", f"by {trace_text(self.violating)}, whatever follows")]
        return [*rows, ("violated", f"never for good; not yet satisfied by {trace_text(self.unsatisfying)}")]

    @cached_property
    def shortcuts(self) -> Shortcuts:
        """Which symbols rewards can teach."""
        return shortcuts(self.machine)

    def against(self, other: FormulaValue | str, logic: str | None = None) -> Comparison:
        """Compare with another formula over the same symbols.

        `logic`: its language. Default: that of its prefix, else that of this task.
        """
        formula, named = read_formula(other, logic or inherited_logic(other, self.task.logic))
        task = Task(formula, self.task.alphabet, self.task.reward, logic=named)
        return compare(self.machine, task.machine(self.limits))


def trace_text(trace: Sequence[Step] | None) -> str | None:
    """A trace as `--trace` takes it; None where there is none."""
    if trace is None:
        return None
    return ",".join(step if isinstance(step, str) else "&".join(step) or "-" for step in trace)


def explain(
    formula: FormulaValue | str | Task,
    symbols: Alphabet | Iterable[str] | None = None,
    *,
    propositions: Iterable[str] | None = None,
    logic: str = DEFAULT_LOGIC,
) -> Explanation:
    """Explain a formula in words and by example traces.

    The alphabet is given as in `nrm.compile`: symbols, propositions, or by default the propositions of the formula.
    """
    task = formula if isinstance(formula, Task) else Task.of(formula, symbols, propositions, logic)
    return Explanation(task)


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
    found = [_pattern(part, exclusive, logic) for part in formula.args]
    known = [pattern for pattern in found if pattern is not None]
    return " & ".join(_merged(known)) if len(known) == len(found) else None


def _pattern(formula: FormulaValue, exclusive: bool, logic: str) -> str | None:
    atoms = formula.atoms()
    if not 1 <= len(atoms) <= 4:
        return None
    other = f"not {' nor '.join(atoms)}"  # longer than any of them
    alphabet = Alphabet.exclusive([*atoms, other]) if exclusive else Alphabet.propositional(atoms)
    machine = _machine(formula, alphabet, logic)
    if machine is None or machine.states == 1:
        return None
    return next((text for text in _calls(atoms) if _machine(text, alphabet, "ltlf") == machine), None)


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
