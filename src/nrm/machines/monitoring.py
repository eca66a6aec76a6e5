"""Following a rule along a trace: after each step, whether it is satisfied, holds, is open or is violated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from nrm.aliases import State, Step, Symbol, Trace
from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.logic import DEFAULT_LOGIC, LANGUAGES, FormulaValue, true_symbols
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine, Verdict
from nrm.machines.task import GivenMachine, Task


class Part(NamedTuple):
    """A conjunct of a formula that asks for something under a condition."""

    text: str
    machine: MooreMachine
    mutant: MooreMachine
    """What is left of it if nothing that it asks for ever comes due."""


@dataclass(frozen=True, eq=False)
class Monitor:
    """A rule, and where it stands after the steps so far. Frozen: `step` returns the monitor after one more step."""

    machine: MooreMachine
    """That of the rule."""
    parts: tuple[Part, ...] = ()
    ignores_others: bool = False
    """Whether symbols that the rule does not name are welcome, and mean nothing."""
    states: tuple[State, ...] = ()
    """The state of the rule's machine, and of the two machines of each part."""
    _after: dict[tuple[tuple[State, ...], Step], Monitor] = field(default_factory=dict, repr=False)
    """Steps that were made before, of all monitors of the rule; emptied when it is large."""

    def __post_init__(self) -> None:
        if not self.states:
            object.__setattr__(self, "states", tuple(machine.initial for machine in self._machines))

    @property
    def _machines(self) -> tuple[MooreMachine, ...]:
        return (self.machine, *(machine for part in self.parts for machine in part[1:]))

    @property
    def verdict(self) -> Verdict:
        """The rule's verdict; before the first step, that of its initial state."""
        return self.machine.verdicts[self.states[0]]

    @property
    def vacuous(self) -> tuple[str, ...]:
        """The parts of an LTLf rule that hold so far without having asked for anything: `G(a -> F b)` without an a."""
        states = zip(self.parts, self.states[1::2], self.states[2::2], strict=True)
        holding = (part for part, one, other in states if part.machine.accepting[one] and part.mutant.accepting[other])
        return tuple(part.text for part in holding)

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
        alphabet = self.machine.alphabet
        if self.ignores_others:
            step = tuple(name for name in true_symbols(step, place) if name in alphabet.places)
        letter = alphabet.letter(step, place)
        moved = zip(self._machines, self.states, strict=True)
        return replace(self, states=tuple(machine.next_state(state, letter) for machine, state in moved))

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
        return Monitor(rule)
    own = not isinstance(rule, Task) and symbols is None and propositions is None
    task = rule if isinstance(rule, Task) else Task.of(rule, symbols, propositions, logic)
    if isinstance(task.formula, GivenMachine):
        return Monitor(task.machine(limits))

    def machine_of(formula: FormulaValue) -> MooreMachine:
        return replace(task, formula=formula, reward="acceptance").machine(limits)

    find = getattr(LANGUAGES[task.logic], "strengthened", None)
    pairs = [] if find is None else find(task.formula)
    parts = (Part(str(part), machine_of(part), machine_of(mutant)) for part, mutant in pairs)
    return Monitor(machine_of(task.formula), tuple(part for part in parts if part.mutant.accepting.any()), own)
