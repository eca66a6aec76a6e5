"""Many tasks over one alphabet, side by side; and what a policy sees of a task: as many numbers for each of them.

What a policy needs to know is which letters help and which hurt, now and after the next step; a task that it has never
met is then a new combination of numbers that it knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from nrm.aliases import BoolArray, FloatArray, IntArray, State
from nrm.errors import MachineError, listing
from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine
from nrm.machines.task import MachineLike, Task, as_machine

One = TypeVar("One")
Many = TypeVar("Many")


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
        return np.unique(np.round(self.union.outputs, 6) + 0.0)

    @cached_property
    def level_of_state(self) -> IntArray:
        """(states,) the index in `levels` of the output of each state of `union`."""
        nearest: IntArray = np.abs(self.union.outputs[:, None] - self.levels).argmin(1).astype(np.int32)
        return nearest

    @property
    def initial_level(self) -> float:
        """The potential that all tasks begin with; an error where they differ: rewards would not tell the potential."""
        begin = self.union.outputs[self.initial]
        differing = np.flatnonzero(np.abs(begin - begin[0]) > 1e-6)
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
    def seen_as(self) -> IntArray:
        """(states,) the state that each one of `union` looks like to a policy."""
        return np.arange(len(self.task_of_state), dtype=np.int32)

    def outcome(self, machine: MooreMachine) -> BoolArray:
        """(states,) where a task of these is over."""
        return machine.accepting | machine.dead

    @cached_property
    def view(self) -> FloatArray:
        """(states, width) what policies see from each state of `union`."""
        return task_view(self.union)

    def either(self, one: One, many: Many) -> One | Many:
        """What suits a single task, whose states a policy can see, or what suits many."""
        return one if len(self) == 1 else many

    def __repr__(self) -> str:
        return (
            f"TaskSet({len(self)} tasks over {self.alphabet.amount} {self.alphabet.kind} letters, "
            f"{len(self.task_of_state):,} states, {self.max_states} at most)"
        )


def as_task_set(tasks: MachineLike | TaskSet) -> TaskSet:
    """Some tasks as they are, or the set of the only one."""
    return tasks if isinstance(tasks, TaskSet) else TaskSet.of([tasks])


def machine_or_tasks(given: MachineLike | TaskSet) -> MooreMachine | TaskSet:
    """A machine, or a task set as it is."""
    return given if isinstance(given, TaskSet) else as_machine(given)


def view_columns(alphabet: Alphabet) -> tuple[str, ...]:
    """What each number of a block of the view speaks of: letters, or where these are many, propositions and their lack.

    Up to twelve propositions the columns are all their subsets; past that `p`, `!p` for each proposition p.
    """
    if alphabet.is_small:
        return alphabet.letter_names
    return tuple(text for name in alphabet.symbols for text in (name, f"!{name}"))


def task_view(machine: MooreMachine) -> FloatArray:
    """(states, 4 * columns + 1) what can be seen of the task from each state: what helps and hurts now and next.

    With d the distance to acceptance: for each letter its *gain* d(q) - d(next), cut to -1 and 1 (0 where it loses the
    task), and whether it *loses* the task; the means of both over the different states that gaining letters lead to;
    and last min(d, 10) / 10, 1 where the task is lost. Machines side by side look the same as each by itself.

    Where propositions are many (`view_columns`), columns are propositions that hold (p) or do not (!p), whatever else
    does: the gain is then the best that is possible with it, and it loses the task where nothing else can help.
    """
    now, pairs = _next_step(machine), _gaining(machine)
    later = np.zeros_like(now)
    np.add.at(later, pairs[:, 0], now[pairs[:, 1]])
    later /= np.maximum(np.bincount(pairs[:, 0], minlength=machine.states), 1)[:, None]
    left = np.where(machine.dead, 10, np.minimum(machine.distance_to_acceptance, 10)) / 10
    return np.concatenate([now, later, left[:, None]], axis=1)


def _next_step(machine: MooreMachine) -> FloatArray:
    """(states, 2 * columns) the gain by each letter or proposition, cut to -1 and 1, and whether it loses the task.

    Of propositions, it is the best gain with each of them and without it, and whether all is lost then.
    """
    distance, dead, far = machine.distance_to_acceptance, machine.dead, 1 << 30
    nearest = machine.moves.nearest(np.where(dead, far, distance).astype(np.int64))
    lost = nearest >= far
    gain = np.where(lost | dead[:, None], 0, np.clip(distance[:, None] - nearest, -1, 1))
    return np.concatenate([gain, lost], axis=1).astype(np.float64)


def _gaining(machine: MooreMachine) -> IntArray:
    """(pairs, 2) states and the different states, nearer to acceptance, that some letter leads to from them."""
    edges = machine.moves.edges()
    before, after = machine.distance_to_acceptance[edges].T
    nearer: IntArray = edges[(after >= 0) & (after < before)]
    return nearer
