"""How well a grounder names what it sees: for evaluation only, since it needs the true labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import EpisodeError, LimitError
from nrm.machines import MooreMachine, TaskSet
from nrm.neural import EpisodeBuffer, NeuralRewardMachine, grounded_traces
from nrm.shortcuts import Shortcuts, TaskSetShortcuts, best_symmetry, diagnose, shortcuts, task_set_shortcuts


class Accuracy(NamedTuple):
    """Shares of observations; see `nrm.shortcuts.Diagnosis`."""

    plain: float
    balanced: float
    modulo_shortcuts: float
    """NaN where one task has too many symmetries to look at; those of many tasks are then left out."""
    mirror: tuple[int, ...]
    """For each state of the machine, the state that the grounder takes it for under the symmetry that fits best."""


class BorderAccuracy(NamedTuple):
    """The same where observations are without end: also near the borders between symbols, and far from them."""

    overall: Accuracy
    near: float
    """The share named right within a distance of a border: modulo shortcuts, under the symmetry that fits best overall;
    plain where symmetries are too many. NaN where nothing lies there."""
    far: float
    """The same everywhere else."""
    within: float
    """That distance."""


class AccuracyMeter:
    """Measures grounders of one task, or of many. Shortcuts are found once, when they are first needed."""

    def __init__(self, tasks: MooreMachine | TaskSet) -> None:
        self._machine = tasks.union if isinstance(tasks, TaskSet) else tasks
        self._many = tasks if isinstance(tasks, TaskSet) else None
        self._shortcuts: Shortcuts | None = None
        self._pooled: TaskSetShortcuts | None = None
        self.note = ""
        """Why accuracy modulo shortcuts, or a part of it, is left out; empty where it is not."""

    def measure(self, model: NeuralRewardMachine, observations: Tensor, letters: Tensor) -> Accuracy:
        """Accuracy of the grounder on observations (n, …) whose true letters (n,) are known."""
        return self.compare(letters.numpy(), _predicted(model, observations))

    def measure_episodes(self, model: NeuralRewardMachine, episodes: EpisodeBuffer) -> Accuracy:
        """Accuracy over the steps of episodes whose true letters are recorded: the one way for recurrent grounders."""
        letters = episodes.symbols()
        if letters is None:
            raise EpisodeError("accuracy needs the true letters of every episode: buffer.add(…, symbols=letters)")
        return self.compare(letters, np.concatenate(grounded_traces(model, episodes)))

    def compare(self, letters: NDArray[np.int64], predicted: NDArray[np.int64]) -> Accuracy:
        """Accuracy of predicted letters (n,) beside the true ones (n,)."""
        return self._judged(letters, predicted)[0]

    def measure_borders(
        self, model: NeuralRewardMachine, observations: Tensor, letters: Tensor, distance: Tensor, within: float
    ) -> BorderAccuracy:
        """The same also for those whose distance (n,) from a border is at most `within`, and for the others."""
        true, predicted = letters.numpy(), _predicted(model, observations)
        overall, right = self._judged(true, predicted)
        near = distance.numpy() <= within
        close, away = (float(right[which].mean()) if which.any() else float("nan") for which in (near, ~near))
        return BorderAccuracy(overall, close, away, within)

    def _judged(self, true: NDArray[np.int64], predicted: NDArray[np.int64]) -> tuple[Accuracy, NDArray[np.bool_]]:
        """Accuracy, and whether each prediction (n,) is right modulo shortcuts; plainly where these are not known."""
        machine = self._machine
        if self._many is not None:
            return self._judged_by_tasks(self._many, true, predicted)
        if not machine.alphabet.is_small:
            return self._judged_by_class(true, predicted)
        confusion = _confusion(true, predicted, machine.alphabet.size)
        same = tuple(range(machine.states))
        if self.note:
            return Accuracy(*_without_shortcuts(confusion), float("nan"), same), true == predicted
        try:
            known = self._shortcuts = self._shortcuts or shortcuts(machine)
            found = diagnose(known, confusion)
        except LimitError as error:
            self.note = f"accuracy modulo shortcuts is left out: {error}"
            return self._judged(true, predicted)
        # States that rewards alone do not tell apart are merged in `known`; then no state has a mirror image to name.
        merged = known.machine.states < machine.states
        mirror = same if merged else known.states_under(found.symmetry)
        classes = known.machine.letter_class
        right = classes[predicted] == np.array(found.symmetry)[classes[true]]
        return Accuracy(found.accuracy, found.balanced_accuracy, found.accuracy_modulo_shortcuts, mirror), right

    def _judged_by_class(
        self, true: NDArray[np.int64], predicted: NDArray[np.int64]
    ) -> tuple[Accuracy, NDArray[np.bool_]]:
        """The same where letters are too many for a table of them."""
        machine = self._machine
        same = tuple(range(machine.states))
        plain, balanced = _by_letter(true, predicted)
        try:
            known = self._shortcuts = self._shortcuts or shortcuts(machine)
            own, other = known.machine.classes_of(true), known.machine.classes_of(predicted)
            symmetry, agreement = best_symmetry(known.group, _confusion(own, other, known.machine.classes))
        except LimitError as error:
            self.note = f"accuracy modulo shortcuts is left out: {error}"
            return Accuracy(plain, balanced, float("nan"), same), true == predicted
        merged = known.machine.states < machine.states
        mirror = same if merged else known.states_under(symmetry)
        return Accuracy(plain, balanced, agreement / len(true), mirror), other == np.array(symmetry)[own]

    def _judged_by_tasks(
        self, tasks: TaskSet, true: NDArray[np.int64], predicted: NDArray[np.int64]
    ) -> tuple[Accuracy, NDArray[np.bool_]]:
        """The same for many tasks. Where their symmetries are too many, only letters that all treat alike are one."""
        right = _alike(tasks, true, predicted) if self.note else None
        if right is None:
            try:
                known = self._pooled = self._pooled or task_set_shortcuts(tasks)
                own, other = known.letters.take(true), known.letters.take(predicted)
                symmetry, _ = best_symmetry(known.group, _confusion(own, other, len(known.class_sizes)))
            except LimitError as error:
                self.note = f"accuracy modulo shortcuts takes no account of symmetries of the tasks: {error}"
                return self._judged_by_tasks(tasks, true, predicted)
            right = other == np.array(symmetry)[own]
        same = tuple(range(self._machine.states))
        return Accuracy(*_by_letter(true, predicted), float(right.mean()), same), right


def _predicted(model: NeuralRewardMachine, observations: Tensor) -> NDArray[np.int64]:
    """(n,) the most probable letters."""
    with torch.no_grad():
        shown = observations.to(model.machine.levels.device)
        letters: NDArray[np.int64] = model.letters(model.ground(shown, check=False)).cpu().numpy()
    return letters


def _alike(tasks: TaskSet, true: NDArray[np.int64], predicted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) whether every task treats a prediction as it treats the true letter."""
    classes = [(machine.classes_of(true), machine.classes_of(predicted)) for machine in tasks.machines]
    alike: NDArray[np.bool_] = np.all([own == other for own, other in classes], axis=0)
    return alike


def _by_letter(true: NDArray[np.int64], predicted: NDArray[np.int64]) -> tuple[float, float]:
    """Plain and balanced accuracy, however many letters there are."""
    seen, places = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    return _without_shortcuts(_confusion(places[: len(true)], places[len(true) :], len(seen)))


def _confusion(true: NDArray[np.integer], predicted: NDArray[np.integer], size: int) -> NDArray[np.float64]:
    """(size, size) how often each (row) was taken for each (column)."""
    counts = np.zeros((size, size))
    np.add.at(counts, (true, predicted), 1.0)
    return counts


def _without_shortcuts(confusion: np.ndarray) -> tuple[float, float]:
    """Plain and balanced accuracy from counts [true letter, predicted letter]."""
    counts, right = confusion.sum(1), confusion.diagonal()
    seen = counts > 0
    return float(right.sum() / counts.sum()), float((right[seen] / counts[seen]).mean())
