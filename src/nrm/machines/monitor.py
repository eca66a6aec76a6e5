"""Following a rule along a trace: after each step, whether it is satisfied, holds, is open or is violated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from nrm.aliases import State, Step, Symbol, Trace
from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.logic import DEFAULT_LOGIC, LANGUAGES, FormulaValue, read_formula, true_symbols
from nrm.machines.alphabet import Alphabet, alphabet_of
from nrm.machines.moore import MooreMachine
from nrm.machines.task import GivenMachine, Task, own_alphabet


class Verdict(str, Enum):
    """What is known of a rule after some steps of a trace (the four values of LTLf monitoring)."""

    SATISFIED = "satisfied"
    """It holds, whatever comes."""
    HOLDS = "holds"
    """It holds if the trace ends here, and can still be violated."""
    OPEN = "open"
    """It does not hold if the trace ends here, and can still be satisfied."""
    VIOLATED = "violated"
    """It does not hold, whatever comes."""

    @property
    def passed(self) -> bool:
        """Whether a trace that ends here satisfies the rule."""
        return self in (Verdict.SATISFIED, Verdict.HOLDS)

    def __str__(self) -> str:
        return self.value


def verdicts_of(machine: MooreMachine) -> tuple[Verdict, ...]:
    """The verdict in each state of a machine."""
    lasting = machine.moves.distances(~machine.accepting) < 0
    kinds = np.where(machine.accepting, np.where(lasting, 0, 1), np.where(machine.dead, 3, 2))
    every = tuple(Verdict)
    return tuple(every[kind] for kind in kinds.tolist())


@dataclass(frozen=True, eq=False)
class WatchedMachine:
    """A machine that is followed, with what is asked at every step looked up in advance."""

    machine: MooreMachine
    verdicts: tuple[Verdict, ...]
    text: str
    """The formula."""

    @classmethod
    def of(cls, machine: MooreMachine, text: str) -> WatchedMachine:
        """A machine and the formula that it stands for."""
        return cls(machine, verdicts_of(machine), text)


@dataclass(frozen=True, eq=False)
class Monitor:
    """A rule, and where it stands after the steps so far. Frozen: `step` returns the monitor after one more step."""

    rule: WatchedMachine
    parts: tuple[tuple[WatchedMachine, WatchedMachine], ...] = ()
    """Conjuncts of an LTLf formula that ask for something under a condition, each with what holds if it never does."""
    ignores_others: bool = False
    """Whether symbols that the rule does not name are welcome, and mean nothing."""
    states: tuple[State, ...] = ()
    """The state of the rule, and of the two machines of each part."""
    _after: dict[tuple[tuple[State, ...], Step], Monitor] = field(default_factory=dict, repr=False)
    """Steps that were made before, of all monitors of the rule; emptied when it is large."""

    def __post_init__(self) -> None:
        if not self.states:
            object.__setattr__(self, "states", tuple(one.machine.initial for one in self._machines))

    @property
    def _machines(self) -> tuple[WatchedMachine, ...]:
        return (self.rule, *(machine for pair in self.parts for machine in pair))

    @property
    def alphabet(self) -> Alphabet:
        """What can be read at a step."""
        return self.rule.machine.alphabet

    @property
    def verdict(self) -> Verdict:
        """The rule's verdict; before the first step, that of its initial state."""
        return self.rule.verdicts[self.states[0]]

    @property
    def vacuous(self) -> tuple[str, ...]:
        """The parts of an LTLf rule that hold so far without having asked for anything: `G(a -> F b)` without an a."""
        return tuple(
            part.text
            for (part, mutant), state, without in zip(self.parts, self.states[1::2], self.states[2::2], strict=True)
            if part.verdicts[state].passed and mutant.verdicts[without].passed
        )

    def step(self, step: Step, place: str = "") -> Monitor:
        """The monitor after a step: a symbol's name, or the collection of true propositions. `place` is for errors."""
        key = (self.states, step if isinstance(step, str | tuple) else true_symbols(step, place))
        found = self._after.get(key)
        if found is None:
            found = self._stepped(key[1], place)
            if len(self._after) >= 1 << 16:
                self._after.clear()
            self._after[key] = found
        return found

    def _stepped(self, step: Step, place: str) -> Monitor:
        if self.ignores_others:
            step = tuple(name for name in true_symbols(step, place) if name in self.alphabet.places)
        letter = self.alphabet.letter(step, place)
        moved = zip(self._machines, self.states, strict=True)
        return replace(self, states=tuple(one.machine.next_state(state, letter) for one, state in moved))

    def run(self, trace: Trace) -> list[Monitor]:
        """The monitors after each step of a trace."""
        found: list[Monitor] = []
        for number, step in enumerate(trace, 1):
            found.append((found[-1] if found else self).step(step, f"step {number}"))
        return found


def monitor(
    rule: FormulaValue | str | Task | MooreMachine,
    symbols: Alphabet | Iterable[Symbol] | None = None,
    *,
    propositions: Iterable[Symbol] | None = None,
    logic: str = DEFAULT_LOGIC,
    limits: Limits = DEFAULT_LIMITS,
) -> Monitor:
    """A monitor of a rule, before the first step: over symbols, propositions, or by default the rule's propositions.

    In the last case a step may name other symbols as well, which mean nothing to the rule.
    """
    if isinstance(rule, MooreMachine):
        rule = Task.from_machine(rule)
    if isinstance(rule, Task):
        return _monitor(rule, False, limits)
    formula, logic = read_formula(rule, logic)
    alphabet = alphabet_of(symbols, propositions)
    task = Task(formula, alphabet or own_alphabet(formula), "acceptance", logic=logic)
    return _monitor(task, alphabet is None, limits)


def _monitor(task: Task, ignores_others: bool, limits: Limits) -> Monitor:
    def watched(formula: FormulaValue) -> WatchedMachine:
        return WatchedMachine.of(replace(task, formula=formula, reward="acceptance").machine(limits), str(formula))

    if isinstance(task.formula, GivenMachine):
        return Monitor(WatchedMachine.of(task.machine(limits), task.title), ignores_others=ignores_others)
    found = getattr(LANGUAGES[task.logic], "strengthened", None)
    pairs = [] if found is None else [(watched(part), watched(mutant)) for part, mutant in found(task.formula)]
    kept = tuple(pair for pair in pairs if pair[1].machine.accepting.any())
    return Monitor(watched(task.formula), kept, ignores_others)
