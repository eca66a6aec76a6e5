"""Which of many tasks the next episodes have: from short to long, by success."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from nrm.aliases import BoolArray, FloatArray
from nrm.machines import TaskSet
from nrm.samplers import Emphasis

JUDGED = 200
"""Episodes of the longest tasks over which success is looked at."""


class Choice(NamedTuple):
    """How tasks were drawn after an update, as runs keep it."""

    episode: int
    """How many episodes were done."""
    longest: int
    """Steps that the longest of the drawn tasks takes at least."""
    tasks: int
    """How many tasks are drawn at all."""
    success: float
    """Of the longest of them, over the last episodes; NaN before any episode."""


class SuccessCurriculum:
    """Tasks by the least steps to acceptance: longer ones come in when the longest so far mostly succeed.

    Half of the episodes have one of the longest tasks, until all are in; or of the shortest, to the end.
    """

    def __init__(self, tasks: TaskSet, threshold: float = 0.8, emphasis: Emphasis = "longest") -> None:
        """`threshold`: success of the longest tasks that are drawn at which longer ones are."""
        self._threshold = threshold
        self._emphasis = emphasis
        self._steps = least_steps(tasks)
        self._lengths = np.unique(self._steps)
        self.stage = 0
        self._outcomes: list[bool] = []

    @property
    def longest(self) -> int:
        """How long the longest tasks are that are drawn."""
        return int(self._lengths[self.stage])

    @property
    def success(self) -> float:
        """Of the last episodes of the longest tasks; NaN before any."""
        return float(np.mean(self._outcomes)) if self._outcomes else float("nan")

    def note(self, outcomes: Iterable[tuple[int, bool]]) -> None:
        """Take in finished episodes, each with its task and whether it succeeded; let longer tasks in if it is time."""
        longest = self._steps == self.longest
        self._outcomes += [success for task, success in outcomes if longest[task]]
        self._outcomes = self._outcomes[-JUDGED:]
        if len(self._outcomes) >= JUDGED and self.success >= self._threshold and self.stage + 1 < len(self._lengths):
            self.stage += 1
            self._outcomes = []

    def weights(self) -> FloatArray:
        """(tasks,) how often each is drawn; they sum to 1."""
        drawn = _shares(self._steps <= self.longest)
        if self._emphasis == "shortest":
            return (drawn + _shares(self._steps == self._lengths[0])) / 2
        if self.stage + 1 == len(self._lengths):
            return drawn
        return (drawn + _shares(self._steps == self.longest)) / 2

    def choice(self, episode: int) -> Choice:
        """How tasks are drawn now, for the run's history."""
        return Choice(episode, self.longest, int((self.weights() > 0).sum()), self.success)

    def state_dict(self) -> dict[str, Any]:
        return {"stage": self.stage, "outcomes": torch.tensor(self._outcomes, dtype=torch.bool)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.stage, self._outcomes = state["stage"], state["outcomes"].tolist()


def least_steps(tasks: TaskSet) -> NDArray[np.int64]:
    """(tasks,) the least number of steps to acceptance."""
    found: NDArray[np.int64] = tasks.union.distance_to_acceptance[tasks.initial].astype(np.int64)
    return found


def _shares(chosen: BoolArray) -> FloatArray:
    shares: FloatArray = chosen / chosen.sum()
    return shares
