"""Many tasks over one alphabet, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nrm.aliases import FloatArray, IntArray, State
from nrm.errors import MachineError, listing
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine, amount_of_letters
from nrm.machines.task import MachineLike, Task, as_machine
from nrm.machines.task_encoding import task_view

_DECIMALS = 6


@dataclass(frozen=True, eq=False)
class TaskSet:
    """Some tasks, each with its machine. Their disjoint union is one machine with a beginning for each task."""

    machines: tuple[MooreMachine, ...]
    names: tuple[str, ...]
    """What each asks for, as people read it."""

    def __post_init__(self) -> None:
        if not self.machines:
            raise MachineError("a pool has at least one task")
        if len(self.names) != len(self.machines):
            raise MachineError(f"{len(self.machines)} machines but {len(self.names)} names")
        for number, machine in enumerate(self.machines):
            if machine.alphabet != self.alphabet:
                raise MachineError(
                    f"the tasks of a pool share one alphabet; task 0 is over {listing(self.alphabet.symbols)}, "
                    f"task {number} over {listing(machine.alphabet.symbols)}"
                )

    @classmethod
    def of(cls, tasks: Iterable[MachineLike], alphabet: Alphabet | None = None) -> TaskSet:
        """A pool of tasks, machines or formulas; equal machines are taken once, under the name of the first."""
        found: dict[MooreMachine, str] = {}
        for task in tasks:
            machine = as_machine(task, alphabet)
            name = task.title if isinstance(task, Task) else str(task)
            found.setdefault(machine, name)
        return cls(tuple(found), tuple(found.values()))

    @property
    def alphabet(self) -> Alphabet:
        """What all of them read."""
        return self.machines[0].alphabet

    def __len__(self) -> int:
        return len(self.machines)

    @cached_property
    def first(self) -> IntArray:
        """(tasks,) the number in `union` of state 0 of each task."""
        sizes = [machine.states for machine in self.machines]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)

    @cached_property
    def initial(self) -> IntArray:
        """(tasks,) the state of `union` in which each task begins."""
        return self.first + np.array([machine.initial for machine in self.machines], dtype=np.int32)

    @cached_property
    def task_of_state(self) -> IntArray:
        """(states,) the task that each state of `union` is of."""
        sizes = [machine.states for machine in self.machines]
        return np.repeat(np.arange(len(self), dtype=np.int32), sizes)

    @cached_property
    def max_states(self) -> int:
        """The number of states of the largest machine."""
        return max(machine.states for machine in self.machines)

    @cached_property
    def levels(self) -> FloatArray:
        """The distinct outputs of all tasks, ascending; equal ones but for rounding count as one."""
        return np.unique(np.round(self.union.outputs, _DECIMALS) + 0.0)

    @cached_property
    def level_of_state(self) -> IntArray:
        """(states,) the index in `levels` of the output of each state of `union`."""
        nearest: IntArray = np.abs(self.union.outputs[:, None] - self.levels).argmin(1).astype(np.int32)
        return nearest

    @property
    def initial_level(self) -> float:
        """The potential that all tasks begin with; an error where they differ: rewards would not tell the potential."""
        begin = self.union.outputs[self.initial]
        differing = np.flatnonzero(np.abs(begin - begin[0]) > 10.0**-_DECIMALS)
        if len(differing):
            other = int(differing[0])
            raise MachineError(
                f"the tasks of a pool must begin at one potential, so that rewards tell it: {self.names[0]} begins at "
                f"{begin[0]:g}, {self.names[other]} at {begin[other]:g}"
            )
        return float(begin[0])

    @cached_property
    def union(self) -> MooreMachine:
        """All machines as one; its initial state is that of the first task."""
        if len(self.machines) == 1:
            return self.machines[0]
        accepting = np.concatenate([machine.accepting for machine in self.machines])
        outputs = np.concatenate([machine.outputs for machine in self.machines])
        moves = self.machines[0].moves.beside([machine.moves for machine in self.machines[1:]])
        return MooreMachine.of_moves(self.alphabet, moves, accepting, outputs, int(self.initial[0]))

    def local(self, state: State) -> tuple[int, State]:
        """The task of a state of `union`, and the number of that state in the task's own machine."""
        task = int(self.task_of_state[state])
        return task, state - int(self.first[task])

    def subset(self, tasks: Sequence[int]) -> TaskSet:
        """The pool of some of the tasks, in the order given."""
        machines = tuple(self.machines[task] for task in tasks)
        return TaskSet(machines, tuple(self.names[task] for task in tasks))

    @cached_property
    def view(self) -> FloatArray:
        """(states, width) what policies see from each state of `union`."""
        return task_view(self.union)

    def __repr__(self) -> str:
        return (
            f"TaskSet({len(self)} tasks over {amount_of_letters(self.alphabet)} {self.alphabet.kind} letters, "
            f"{len(self.task_of_state):,} states, {self.max_states} at most)"
        )
