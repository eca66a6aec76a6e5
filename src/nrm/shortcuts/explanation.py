"""What a formula says, for somebody who has written it or found it; and how it differs from another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nrm.aliases import Step
from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.logic import DEFAULT_LOGIC, LANGUAGES, FormulaValue, inherited_logic, read_formula
from nrm.machines import Alphabet, MooreMachine, Task, alphabet_of, own_alphabet, product, shortest_trace
from nrm.shortcuts.analysis import Shortcuts, shortcuts
from nrm.shortcuts.recognition import recognised


@dataclass(frozen=True)
class Comparison:
    """How two tasks over one alphabet differ on non-empty traces."""

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
        """A shortest trace that tells them apart."""
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
    """A task, and what can be said of it; each answer is found when it is asked for."""

    task: Task
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def machine(self) -> MooreMachine:
        """The minimal machine."""
        return self.task.machine(self.limits)

    @property
    def words(self) -> str:
        """The formula in plain English; empty where its language has no words."""
        told = getattr(LANGUAGES[self.task.logic], "words", None)
        return "" if told is None else str(told(self.task.formula))

    @cached_property
    def pattern(self) -> str | None:
        """The named pattern that it is, or a conjunction of several; None for another task."""
        return recognised(self.task.formula, self.task.alphabet.is_exclusive, self.task.logic)

    @cached_property
    def satisfying(self) -> tuple[Step, ...] | None:
        """A shortest trace that satisfies it; None if none does."""
        return shortest_trace(self.machine, self.machine.accepting)

    @cached_property
    def violating(self) -> tuple[Step, ...] | None:
        """A shortest trace after which nothing can satisfy it any more; None if there is always hope."""
        return shortest_trace(self.machine, self.machine.dead)

    @cached_property
    def unsatisfying(self) -> tuple[Step, ...] | None:
        """A shortest trace that does not satisfy it, though a longer one may; None if every trace does."""
        return shortest_trace(self.machine, ~self.machine.accepting)

    @property
    def undoable(self) -> bool:
        """Whether a trace that satisfies it can go on so that it does not."""
        machine = self.machine
        states = (state for state in range(machine.states) if machine.accepting[state])
        return any(not machine.accepting[target] for state in states for target in machine.targets(state))

    @cached_property
    def shortcuts(self) -> Shortcuts:
        """What rewards can teach about its symbols."""
        return shortcuts(self.machine)

    def against(self, other: FormulaValue | str, logic: str | None = None) -> Comparison:
        """Compare with another formula over the same symbols.

        `logic`: its language; when absent the one that the text names in front, else this one's.
        """
        formula, named = read_formula(other, logic or inherited_logic(other, self.task.logic))
        task = Task(formula, self.task.alphabet, self.task.reward, logic=named)
        return compare(self.machine, task.machine(self.limits))


def explain(
    formula: FormulaValue | str | Task,
    symbols: Alphabet | Iterable[str] | None = None,
    *,
    propositions: Iterable[str] | None = None,
    logic: str = DEFAULT_LOGIC,
) -> Explanation:
    """Explain a formula: over symbols, propositions, or by default its own propositions; see `nrm.compile`."""
    if isinstance(formula, Task):
        return Explanation(formula)
    parsed, logic = read_formula(formula, logic)
    alphabet = alphabet_of(symbols, propositions) or own_alphabet(parsed)
    return Explanation(Task(parsed, alphabet, logic=logic))
