"""How well a grounder names what it sees: for evaluation only, since it needs the true labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import EpisodeError, LimitError
from nrm.machines import MachineLike, TaskSet, as_task_set
from nrm.neural import EpisodeBuffer, NeuralRewardMachine, grounded_traces
from nrm.shortcuts import Shortcuts, TaskSetShortcuts, best_symmetry, shortcuts, task_set_shortcuts


class Accuracy(NamedTuple):
    """Shares of observations; see `nrm.shortcuts.Diagnosis`."""

    plain: float
    balanced: float
    modulo_shortcuts: float
    """NaN where one task has too many symmetries to look at; those of many tasks are then left out."""
    mirror: tuple[int, ...]
    """For each state of the machine, the state that the grounder takes it for under the symmetry that fits best."""

    def __repr__(self) -> str:
        """The shares alone: a set of tasks has thousands of states."""
        return f"Accuracy({self.plain:.4f}, balanced={self.balanced:.4f}, modulo_shortcuts={self.modulo_shortcuts:.4f})"


class AccuracyMeter:
    """Measures grounders of one task, or of many. Shortcuts are found once, when they are first needed."""

    def __init__(self, tasks: MachineLike | TaskSet) -> None:
        self._find: Callable[[], Shortcuts | TaskSetShortcuts]
        known = as_task_set(tasks)
        machine, self._machines = known.union, known.either((), known.machines)
        self._find = known.either(partial(shortcuts, machine), partial(task_set_shortcuts, known))
        self._same = tuple(range(machine.states))
        self._known: Shortcuts | TaskSetShortcuts | None = None
        self.note = ""
        """Why accuracy modulo shortcuts, or a part of it, is left out; empty where it is not."""

    def measure(self, model: NeuralRewardMachine, observations: Tensor, letters: Tensor) -> Accuracy | None:
        """Accuracy of the grounder on observations (n, …) whose true letters (n,) are known."""
        said = model.alone(observations.to(model.machine.levels.device))
        return None if said is None else self.compare(letters.numpy(), model.letters(said).cpu().numpy())

    def measure_episodes(self, model: NeuralRewardMachine, episodes: EpisodeBuffer) -> Accuracy:
        """Accuracy over the steps of episodes whose true letters are recorded: the one way for recurrent grounders."""
        letters = episodes.symbols()
        if letters is None:
            raise EpisodeError("accuracy needs the true letters of every episode: buffer.add(…, symbols=letters)")
        return self.compare(letters, np.concatenate(grounded_traces(model, episodes)))

    def compare(self, true: NDArray[np.int64], predicted: NDArray[np.int64]) -> Accuracy:
        """Accuracy of predicted letters (n,) beside the true ones (n,)."""
        plain, balanced = _by_letter(true, predicted)
        try:
            if self.note:
                raise LimitError(self.note)
            known = self._known = self._known or self._find()
            classes = known.machine.letters
            own, other = classes.take(true), classes.take(predicted)
            symmetry, _ = best_symmetry(known.group, _confusion(own, other, len(known.group.identity)))
        except LimitError as error:
            return Accuracy(plain, balanced, self._without_symmetries(error, true, predicted), self._same)
        mirror = self._same
        # States that rewards alone do not tell apart are merged in `known`; then no state has a mirror image to name.
        if isinstance(known, Shortcuts) and known.machine.states == len(mirror):
            mirror = known.states_under(symmetry)
        return Accuracy(plain, balanced, float((other == np.array(symmetry)[own]).mean()), mirror)

    def _without_symmetries(self, error: LimitError, true: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
        """Where these are too many: NaN; of many tasks, letters that all of them treat alike are one."""
        if not self._machines:
            self.note = self.note or f"accuracy up to equivalence is left out: {error}"
            return float("nan")
        self.note = self.note or f"accuracy up to equivalence ignores symmetries of the tasks: {error}"
        classes = [(machine.classes_of(true), machine.classes_of(predicted)) for machine in self._machines]
        return float(np.all([own == other for own, other in classes], axis=0).mean())


def _by_letter(true: NDArray[np.int64], predicted: NDArray[np.int64]) -> tuple[float, float]:
    """Plain and balanced accuracy, however many letters there are."""
    seen, places = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    confusion = _confusion(places[: len(true)], places[len(true) :], len(seen))
    counts, right = confusion.sum(1), confusion.diagonal()
    occur = counts > 0
    return float(right.sum() / counts.sum()), float((right[occur] / counts[occur]).mean())


def _confusion(true: NDArray[np.integer], predicted: NDArray[np.integer], size: int) -> NDArray[np.float64]:
    """(size, size) how often each (row) was taken for each (column)."""
    counts = np.zeros((size, size))
    np.add.at(counts, (true, predicted), 1.0)
    return counts
