"""Whether the states of a machine that was learned are those of the task's: for evaluation only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.automata import moves as moving
from nrm.machines import MooreMachine


class LearnedStates:
    """How often each state of a learned machine was believed in each true one."""

    def __init__(self, task: MooreMachine, learned: int) -> None:
        """`learned`: how many states the learned machine has."""
        self._task = task
        self._counts = np.zeros((task.states, learned), dtype=np.int64)
        self._went_on = np.zeros(task.states, dtype=np.bool_)

    def add(self, true: NDArray[np.int64], believed: NDArray[np.int64], done: NDArray[np.bool_]) -> None:
        """Some steps (n,): the true state that each led to, the learned one, and whether an episode ended there."""
        np.add.at(self._counts, (true, believed), 1)
        self._went_on[true[~done]] = True

    def accuracy(self) -> float | None:
        """The share of steps at which the learned state is the true one; None where there are no steps.

        Numbers of learned states mean nothing by themselves: each stands for the true one in which it was believed most
        often. True states that no reward tells apart before an episode ends count as one.
        """
        total = self._counts.sum()
        if not total:
            return None
        ends = np.flatnonzero(self._counts.any(1) & ~self._went_on).astype(np.int32)
        alike = moving.congruence(moving.halted(self._task.moves, ends), self._task.level_of_state)
        counts = np.zeros((int(alike.max()) + 1, self._counts.shape[1]), dtype=np.int64)
        np.add.at(counts, alike, self._counts)
        return float(counts.max(0).sum() / total)
