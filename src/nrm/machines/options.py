"""Options of hierarchical agents: to take one of the edges that leave a state of a machine.

Hierarchical reward machines (HRM) are those of Toro Icarte et al., "Reward Machines", JAIR 2022, Section 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nrm.aliases import BoolArray, IntArray, State
from nrm.errors import MachineError
from nrm.machines.guards import move_texts
from nrm.machines.task_set import TaskSet


@dataclass(frozen=True, eq=False)
class Options:
    """An option for each edge that leaves a state, but for those by which the task is lost.

    An option aims at the letters that take its edge and avoids those that lose the task. Edges for which both are equal
    share an option, within a task and between tasks. The last option aims at nothing: it is for states that no edge
    leaves. States are those of all tasks together, letters come by their classes there.
    """

    tasks: TaskSet
    aims: BoolArray
    """(options, classes) the letters that an option makes happen."""
    loses: BoolArray
    """(options, classes) the letters that lose the task."""
    targets: IntArray
    """(states, options) the state that an option leads to; -1 where it is not possible, and a state that no edge leaves
    stays as it is."""

    @classmethod
    def of(cls, tasks: TaskSet) -> Options:
        """The options of some tasks, or `MachineError` where a task begins in a state that no edge leaves."""
        machine = tasks.union
        columns, dead = machine.columns, machine.dead
        found: dict[tuple[bytes, bytes], int] = {}
        aims: list[BoolArray] = []
        loses: list[BoolArray] = []
        edges: list[tuple[int, int, int]] = []
        for state, row in enumerate(columns):
            lost = dead[row] & ~dead[state]
            for target in np.unique(row[~lost & (row != state)]).tolist():
                guard = row == target
                number = found.setdefault((guard.tobytes(), lost.tobytes()), len(found))
                if number == len(aims):
                    aims.append(guard)
                    loses.append(lost)
                edges.append((state, number, target))
        nothing = np.zeros(machine.classes, dtype=np.bool_)
        targets = np.full((machine.states, len(found) + 1), -1, dtype=np.int32)
        for state, number, target in edges:
            targets[state, number] = target
        still: BoolArray = np.all(targets < 0, axis=1)
        targets[still, -1] = np.flatnonzero(still)
        options = cls(tasks, np.array([*aims, nothing]), np.array([*loses, nothing]), targets)
        options._check(still)
        return options

    def _check(self, still: BoolArray) -> None:
        for task, initial in enumerate(self.tasks.initial.tolist()):
            if still[initial]:
                raise MachineError(
                    f"no edge leaves the first state{self._of(task)} but to lose the task, so a hierarchical agent has "
                    "nothing to choose; use another method, such as q_learning (--method rm)"
                )

    def _of(self, task: int) -> str:
        """Which of many tasks is meant."""
        return f" of {self.tasks.names[task]}" if len(self.tasks) > 1 else ""

    def __len__(self) -> int:
        return len(self.aims)

    @property
    def possible(self) -> BoolArray:
        """(states, options) which options each state offers."""
        return self.targets >= 0

    def name(self, option: int) -> str:
        """An edge of an option, for people."""
        state: State = int(np.flatnonzero(self.targets[:, option] >= 0)[0])
        task, local = self.tasks.local(state)
        _, target = self.tasks.local(int(self.targets[state, option]))
        guard = dict(move_texts(self.tasks.machines[task], local)).get(target, "")
        return f"'{guard}' (state {local} to {target}{self._of(task)})"

    def untaken(self, happened: Iterable[bool]) -> tuple[str, ...]:
        """Edges that no observation has triggered; `happened`: for each option, whether its letters were ever read."""
        pairs = zip(range(len(self) - 1), happened, strict=False)
        return tuple(self.name(option) for option, seen in pairs if not seen)
