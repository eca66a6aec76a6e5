"""Which of many tasks the next episodes have: from short to long by success, and those that teach symbols apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.families import PoolConfig
from nrm.families.drawing import Emphasis
from nrm.groundability import pool_shortcuts
from nrm.machines import TaskPool
from nrm.neural import NeuralRewardMachine

Weights = NDArray[np.float64]

JUDGED = 200
"""Episodes of these over which that is looked at."""
LOOKED_AT = 1024
"""Observations of a rollout that the grounder's confusions are judged from."""
CONFUSED = 0.1
"""Overlap of two letters, from 0 to 1, from which a grounder counts as confusing them."""


class Choice(NamedTuple):
    """How tasks were drawn after an update, as runs keep it."""

    episode: int
    """How many episodes were done."""
    longest: int
    """Steps that the longest of the drawn tasks takes at least."""
    tasks: int
    """How many tasks are drawn at all."""
    success: float
    """Of the longest of them, over the last episodes; NaN where there is no curriculum, or before any episode."""
    confusable: int
    """Pairs of letters that the grounder confuses, or that the tasks met so far cannot tell apart."""
    teaching: float
    """Share of the episodes whose task is chosen to tell these apart."""


class SuccessCurriculum:
    """Tasks from short to long: those that take a step more come in when the longest so far are mostly carried out.

    How long a task is, is the least number of steps to acceptance. Half of the episodes have one of the longest tasks,
    until there are no longer ones; or, with the emphasis on the shortest, half of all have one of those to the end.
    """

    def __init__(self, tasks: TaskPool, passed: float = 0.8, emphasis: Emphasis = "longest") -> None:
        """`passed`: success of the longest tasks that are drawn at which longer ones are."""
        self._passed = passed
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
        for task, success in outcomes:
            if self._steps[task] == self.longest:
                self._outcomes.append(success)
        self._outcomes = self._outcomes[-JUDGED:]
        if len(self._outcomes) >= JUDGED and self.success >= self._passed and self.stage + 1 < len(self._lengths):
            self.stage += 1
            self._outcomes = []

    def weights(self) -> Weights:
        """(tasks,) how often each is drawn; they sum to 1."""
        drawn = _shares(self._steps <= self.longest)
        if self._emphasis == "shortest":
            return (drawn + _shares(self._steps == self._lengths[0])) / 2
        if self.stage + 1 == len(self._lengths):
            return drawn
        return (drawn + _shares(self._steps == self.longest)) / 2

    def state_dict(self) -> dict[str, Any]:
        """What decisions depend on."""
        return {"stage": self.stage, "outcomes": torch.tensor(self._outcomes, dtype=torch.bool)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.stage, self._outcomes = state["stage"], state["outcomes"].tolist()


class Teacher:
    """Finds tasks whose first reward tells letters apart that are still confusable.

    Which those are, two things tell, neither of which needs a label: the analysis of the tasks met so far (letters that
    their rewards cannot tell apart however long one trains), and the grounder itself, where it gives two letters
    probability at the same observations. Letters after which a task's first reward differs are never exchanged by a
    shortcut of that task: a symmetry leaves the beginning and all levels as they are.
    """

    def __init__(self, tasks: TaskPool) -> None:
        self._tasks = tasks
        first = tasks.union.outputs[tasks.union.transitions[tasks.initial]]
        self._pairs = np.array(list(combinations(range(tasks.alphabet.size), 2)), dtype=np.int64).reshape(-1, 2)
        left, right = first[:, self._pairs[:, 0]], first[:, self._pairs[:, 1]]
        self._tells: NDArray[np.bool_] = np.abs(left - right) > 1e-6
        """(tasks, pairs) whether the first reward of a task tells two letters apart."""
        self._met = np.zeros(len(tasks), dtype=np.bool_)
        self._untold = np.ones(len(self._pairs), dtype=np.bool_)
        """(pairs,) the letters that the tasks met so far cannot tell apart."""

    def note(self, met: Iterable[int]) -> None:
        """Take in the tasks of finished episodes."""
        before = int(self._met.sum())
        self._met[list(met)] = True
        if self._untold.any() and int(self._met.sum()) > before:
            self._analyse()

    def _analyse(self) -> None:
        found = pool_shortcuts(self._tasks.subset(np.flatnonzero(self._met).tolist()))
        alphabet, number = self._tasks.alphabet, np.arange(self._tasks.alphabet.size)
        for names in found.confusable:
            letters = [alphabet.letter(alphabet.read_step(name)) for name in names]
            number[letters] = letters[0]
        self._untold = number[self._pairs[:, 0]] == number[self._pairs[:, 1]]

    def needs(self, letters: Tensor) -> NDArray[np.float64]:
        """(pairs,) how confusable letters are, from 0 to 1; letters: (n, letters) what a grounder says of observations.

        Its overlap of two letters is the cosine of their columns: 1 also where a letter is never named at all.
        """
        said = letters.double().numpy()
        length = np.maximum(np.linalg.norm(said, axis=0), 1e-12)
        overlap = ((said.T @ said) / length[:, None] / length)[self._pairs[:, 0], self._pairs[:, 1]]
        return np.maximum(np.where(overlap >= CONFUSED, overlap, 0.0), self._untold)

    def weights(self, needs: NDArray[np.float64]) -> Weights | None:
        """(tasks,) tasks by how much of what is needed they tell apart; None where nothing is, or none can.

        A pair of letters that few tasks tell apart counts for as much as one that many do.
        """
        told = (self._tells / np.maximum(self._tells.sum(0), 1)) @ needs
        return _shares(told) if told.any() else None

    def state_dict(self) -> dict[str, Any]:
        """What has been met."""
        return {"met": torch.from_numpy(self._met.copy())}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what has been met."""
        self._met = state["met"].numpy().copy()
        if self._met.any():
            self._analyse()


@dataclass
class TaskChooser:
    """Decides after every update how often each task is drawn."""

    tasks: TaskPool
    share: float
    """Share of the episodes whose task is chosen to teach, while there is something to teach."""
    curriculum: SuccessCurriculum | None
    teacher: Teacher | None

    @classmethod
    def of(cls, tasks: TaskPool, config: PoolConfig, grounds: bool) -> TaskChooser | None:
        """As the settings say; None where tasks are drawn evenly. `grounds`: whether there are symbols to teach."""
        curriculum = (
            SuccessCurriculum(tasks, config.passed, config.emphasis) if config.curriculum == "success" else None
        )
        teacher = Teacher(tasks) if config.teach > 0 and grounds else None
        if curriculum is None and teacher is None:
            return None
        return cls(tasks, config.teach, curriculum, teacher)

    def begin(self) -> Weights:
        """(tasks,) how often each is drawn at first: nothing is known of the grounder yet."""
        return self._drawn(None)

    def choose(
        self,
        episode: int,
        outcomes: Iterable[tuple[int, bool]],
        model: NeuralRewardMachine | None,
        observations: Tensor,
    ) -> tuple[Weights, Choice]:
        """(tasks,) how often each is drawn from now on, and what is to be remembered of that.

        outcomes: of the finished episodes, the task and whether it succeeded; observations: (n, …) of the rollout.
        """
        ended = list(outcomes)
        if self.curriculum is not None:
            self.curriculum.note(ended)
        needs = None
        if self.teacher is not None and model is not None:
            self.teacher.note(task for task, _ in ended)
            every = max(1, len(observations) // LOOKED_AT)
            with torch.no_grad():
                said = model.letter_probs(model.ground(observations[::every], check=False))
            needs = self.teacher.needs(said)
        weights = self._drawn(needs)
        steps = least_steps(self.tasks)
        taught = needs is not None and self.teacher is not None and self.teacher.weights(needs) is not None
        return weights, Choice(
            episode,
            int(steps[weights > 0].max()),
            int((weights > 0).sum()),
            float("nan") if self.curriculum is None else self.curriculum.success,
            0 if needs is None else int((needs > 0).sum()),
            self.share if taught else 0.0,
        )

    def _drawn(self, needs: NDArray[np.float64] | None) -> Weights:
        even = np.full(len(self.tasks), 1 / len(self.tasks))
        base = even if self.curriculum is None else self.curriculum.weights()
        taught = None if self.teacher is None or needs is None else self.teacher.weights(needs)
        return base if taught is None else (1 - self.share) * base + self.share * taught

    def state_dict(self) -> dict[str, Any]:
        """Everything that choosing goes on from."""
        return {
            "curriculum": {} if self.curriculum is None else self.curriculum.state_dict(),
            "teacher": {} if self.teacher is None else self.teacher.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        if self.curriculum is not None:
            self.curriculum.load_state_dict(state["curriculum"])
        if self.teacher is not None:
            self.teacher.load_state_dict(state["teacher"])


def least_steps(tasks: TaskPool) -> NDArray[np.int64]:
    """(tasks,) the least number of steps to acceptance."""
    found: NDArray[np.int64] = tasks.union.distance_to_acceptance[tasks.initial].astype(np.int64)
    return found


def _shares(weights: NDArray[Any]) -> Weights:
    """Weights that sum to 1."""
    shares: Weights = weights / weights.sum()
    return shares
