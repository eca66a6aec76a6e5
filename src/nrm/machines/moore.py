"""Moore machines: a task as states, moves and rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nrm.aliases import BoolArray, FloatArray, IntArray, Letter, State, Step, Trace
from nrm.automata import LetterClasses, ListedLetters, Moves, Moving, Table, moves_of_classes
from nrm.errors import MachineError, counted, listing
from nrm.machines.alphabet import Alphabet


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


@dataclass(frozen=True)
class Run:
    """What a machine did on a trace."""

    states: tuple[State, ...]
    """One more than there are steps: the initial state first."""
    outputs: tuple[float, ...]
    """The potential of each of `states`: the potential, the paper's delta_o."""
    accepted: bool
    """Whether the trace satisfies the task when it ends here."""

    @property
    def rewards(self) -> tuple[float, ...]:
        """What an environment pays at each step: the difference of potentials."""
        return tuple(after - before for before, after in zip(self.outputs, self.outputs[1:], strict=False))


@dataclass(frozen=True, eq=False, init=False)
class MooreMachine(Moving):
    """A complete deterministic Moore machine with accepting states: the reward machine of a task.

    Letters with equal transitions share a column, so the size depends on the task and not on the alphabet. Arrays are
    read-only. Stepping is a pure function: the machine has no current state.
    """

    alphabet: Alphabet
    moves: Moves
    accepting: BoolArray
    """(states,) True if a trace that ends here satisfies the task."""
    outputs: FloatArray
    """(states,) the potential of each state."""
    initial: State = 0

    def __init__(
        self,
        alphabet: Alphabet,
        letters: LetterClasses | ArrayLike,
        columns: ArrayLike,
        accepting: ArrayLike,
        outputs: ArrayLike,
        initial: State = 0,
    ) -> None:
        """A machine by letter classes: `letters` (letters,), or their classes, lead to `columns` (states, classes)."""
        given = _numbers("columns", columns, 2)
        if not given.size:
            raise MachineError("a machine needs at least one state and one letter")
        if not isinstance(letters, LetterClasses):
            letters = ListedLetters(_numbers("letters", letters, 1))
            letters.check(alphabet.size, given.shape[1])
        moves = moves_of_classes(letters, given, alphabet.propositions)
        self._set(alphabet, moves, accepting, outputs, initial)

    @classmethod
    def of_moves(
        cls, alphabet: Alphabet, moves: Moves, accepting: ArrayLike, outputs: ArrayLike, initial: State = 0
    ) -> MooreMachine:
        """A machine of moves by the letters of the alphabet."""
        made = cls.__new__(cls)
        made._set(alphabet, moves, accepting, outputs, initial)
        return made

    def _set(self, alphabet: Alphabet, moves: Moves, accepting: ArrayLike, outputs: ArrayLike, initial: State) -> None:
        accepting = _frozen("accepting", accepting, np.bool_, 1)
        outputs = _frozen("outputs", outputs, np.float64, 1)
        values = (alphabet, moves, accepting, outputs, initial)
        for name, value in zip(("alphabet", "moves", "accepting", "outputs", "initial"), values, strict=True):
            object.__setattr__(self, name, value)
        _validate(self)

    @classmethod
    def from_table(
        cls,
        alphabet: Alphabet,
        transitions: ArrayLike,
        accepting: ArrayLike,
        outputs: ArrayLike,
        initial: State = 0,
    ) -> MooreMachine:
        """A machine from its full table: `transitions[state][letter]`."""
        table = _frozen("transitions", transitions, np.int32, 2).astype(np.int32)
        if table.shape[1] != alphabet.size:
            raise MachineError(
                f"the transition table has {table.shape[1]} columns, but the alphabet has {alphabet.size} letters"
            )
        merged = Table(np.arange(alphabet.size, dtype=np.int32), table).merged()
        return cls(alphabet, merged.letter_class, merged.columns, accepting, outputs, initial)

    @property
    def classes(self) -> int:
        """Number of symbol classes."""
        return int(self.columns.shape[1])

    def class_of(self, letter: Letter) -> int:
        """The class (column) of a letter, however many there are."""
        return self.letters.at(letter)

    def classes_of(self, letters: NDArray[np.int64]) -> IntArray:
        """(…) the classes of letters (…), however many letters there are."""
        return self.letters.take(letters)

    @cached_property
    def class_sizes(self) -> tuple[int, ...]:
        """Number of letters in each class."""
        return self.letters.sizes(self.classes)

    @cached_property
    def transitions(self) -> IntArray:
        """(states, letters) the full transition table."""
        table = self.columns[:, self.letter_class]
        table.flags.writeable = False
        return table

    @cached_property
    def levels(self) -> FloatArray:
        """The distinct potentials, ascending: the set R of the paper."""
        return np.unique(self.outputs)

    @cached_property
    def level_of_state(self) -> IntArray:
        """(states,) index into `levels` of each state."""
        return np.searchsorted(self.levels, self.outputs).astype(np.int32)

    @cached_property
    def distance_to_acceptance(self) -> IntArray:
        """(states,) least number of steps to an accepting state; -1 if there is none."""
        return self.moves.distances(self.accepting)

    @property
    def dead(self) -> BoolArray:
        """(states,) True if no accepting state can be reached: the task has failed."""
        return self.distance_to_acceptance < 0

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """(states,) what is known of the task in each state."""
        lasting = self.moves.distances(~self.accepting) < 0
        kinds = np.where(self.accepting, np.where(lasting, 0, 1), np.where(self.dead, 3, 2))
        every = tuple(Verdict)
        return tuple(every[kind] for kind in kinds.tolist())

    def targets(self, state: State) -> list[State]:
        """The successors of a state, each once."""
        return self.moves.targets(state)

    def next_state(self, state: State, letter: Letter) -> State:
        """The next state, by the number of a letter."""
        return self.moves.next_state(state, letter)

    def step(self, state: State, step: Step) -> State:
        """The next state, by the names of a step."""
        if not 0 <= state < self.states:
            raise MachineError(f"no state {state}; the machine has states 0 to {self.states - 1}")
        return self.next_state(state, self.alphabet.letter(step))

    def run(self, trace: Trace) -> Run:
        """Run a trace from the initial state."""
        states = [self.initial]
        for letter in self.alphabet.encode(trace):
            states.append(self.next_state(states[-1], letter))
        return Run(tuple(states), tuple(self.outputs[states].tolist()), bool(self.accepting[states[-1]]))

    def accepts(self, trace: Trace) -> bool:
        """Whether a trace satisfies the task. The empty trace counts as the initial state."""
        return self.run(trace).accepted

    def with_outputs(self, outputs: ArrayLike) -> MooreMachine:
        """The same machine with other potentials."""
        return MooreMachine.of_moves(self.alphabet, self.moves, self.accepting, outputs, self.initial)

    def relettered(self, alphabet: Alphabet, letters: Sequence[Letter]) -> MooreMachine:
        """The machine over another alphabet, in which letter p acts as `letters[p]` did."""
        classes = self.letters.take(np.array(letters, dtype=np.int64))
        return MooreMachine(alphabet, classes, self.columns, self.accepting, self.outputs, self.initial)

    def __eq__(self, other: object) -> bool:
        """Equal tables, numbering included; for equal behaviour see `equivalent`."""
        if not isinstance(other, MooreMachine):
            return NotImplemented
        return self is other or self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        return (self.alphabet, self.initial, self.accepting.tobytes(), self.outputs.tobytes(), self.moves.key)

    def _repr_svg_(self) -> str | None:
        from nrm.machines.drawing import notebook_svg

        return notebook_svg(self)

    def __repr__(self) -> str:
        potentials = listing([f"{level:g}" for level in self.levels], 6)
        return (
            f"MooreMachine({counted(self.states, 'state')}, {self.alphabet.amount} {self.alphabet.kind} "
            f"letters in {self.moves.extent}, potentials {potentials})"
        )


def _numbers(field: str, values: ArrayLike, dimensions: int) -> IntArray:
    numbers: IntArray = _frozen(field, values, np.int32, dimensions).astype(np.int32, copy=False)
    return numbers


def _frozen(field: str, values: ArrayLike, kind: type[np.generic], dimensions: int) -> NDArray[np.generic]:
    """A read-only copy of the right type, or a clear error."""
    try:
        given = np.asarray(values)
    except ValueError:
        raise MachineError(f"'{field}' has rows of different lengths") from None
    if given.ndim != dimensions:
        raise MachineError(f"'{field}' must have {dimensions} dimension(s), not {given.ndim}")
    whole_numbers = np.issubdtype(kind, np.integer)
    if given.dtype.kind not in ("iu" if whole_numbers else "biuf") and given.size:
        raise MachineError(f"'{field}' must hold {'whole ' if whole_numbers else ''}numbers, not {given.flat[0]!r}")
    array = given.astype(kind)
    if whole_numbers and (array != given).any():
        raise MachineError(f"'{field}' holds {given[array != given].flat[0]}, which is no state or class")
    array.flags.writeable = False
    return array


def _validate(machine: MooreMachine) -> None:
    states, alphabet = machine.states, machine.alphabet
    if not states:
        raise MachineError("a machine needs at least one state and one letter")
    for field in ("accepting", "outputs"):
        length = len(getattr(machine, field))
        if length != states:
            raise MachineError(f"'{field}' has {length} entries for {states} states")
    machine.moves.check(alphabet.size, alphabet.propositions, alphabet.letter_name)
    if not 0 <= machine.initial < states:
        raise MachineError(f"the initial state {machine.initial} is not a state (0 to {states - 1})")
    if not np.isfinite(machine.outputs).all():
        state = int(np.flatnonzero(~np.isfinite(machine.outputs))[0])
        raise MachineError(f"the output of state {state} is {machine.outputs[state]}; outputs must be finite numbers")
