"""What is known of the potential after a step: exactly, not at all, or a weight for each potential.

Evidence is a weight for each potential: how probable that potential makes what was seen. An exact potential is one-hot,
an unknown one all ones, a verdict is the set of the potentials that it allows, and what a judge says who errs is a row
of a confusion matrix. Episodes hold codes; the first ones are the potentials themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nrm.aliases import BoolArray, FloatArray
from nrm.errors import EpisodeError
from nrm.machines import MooreMachine, TaskSet

UNKNOWN = -1
"""In place of the index of a potential that is not known."""


class EvidenceTable:
    """The distinct evidence of some episodes, by code."""

    def __init__(self, potentials: int) -> None:
        self.potentials = potentials
        self._further: dict[tuple[float, ...], int] = {}

    def __len__(self) -> int:
        return self.potentials + len(self._further)

    @property
    def rows(self) -> FloatArray | None:
        """(codes, potentials) the weights of each code; None while all codes are exact potentials."""
        further = np.array(list(self._further)).reshape(-1, self.potentials)
        return np.concatenate([np.eye(self.potentials), further]) if len(further) else None

    def codes(self, weights: ArrayLike, place: str) -> NDArray[np.int64]:
        """(time,) the codes of weights (time, potentials); new ones are added. Errors name the `place`."""
        given = np.asarray(weights, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.potentials:
            raise EpisodeError(f"{place}: evidence has shape {given.shape}; (steps, {self.potentials}) is needed")
        wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)).all(1))
        if wrong.size:
            row = given[wrong[0]].tolist()
            raise EpisodeError(f"{place}, step {wrong[0]} (from 0): evidence is finite and not negative, not {row}")
        rows, first, which = np.unique(given, axis=0, return_index=True, return_inverse=True)
        codes = np.zeros(len(rows), dtype=np.int64)
        for row in np.argsort(first).tolist():
            codes[row] = self._code(tuple(rows[row].tolist()))
        return codes[which.ravel()]

    def _code(self, weights: tuple[float, ...]) -> int:
        if sum(weights) == max(weights, default=0.0) == 1.0:
            return weights.index(1.0)
        return self._further.setdefault(weights, len(self))


def mistaken(allowed: BoolArray, noise: float, answers: int, place: str) -> FloatArray:
    """(time, potentials) the evidence of sets of potentials (time, potentials), each wrong with probability `noise`.

    `answers`: how many could be given; a wrong one is any of the others, equally often. What is unknown stays so.
    """
    if not 0 <= noise < 1:
        raise EpisodeError(f"{place}: the noise is a probability below 1, not {noise:g}")
    weights = np.where(allowed, 1 - noise, noise / max(answers - 1, 1))
    return np.where(allowed.all(1, keepdims=True), 1.0, weights)


def accepting_potentials(machine: MooreMachine | TaskSet) -> BoolArray | None:
    """(potentials,) whether accepting states have each; None where one is shared with a state that does not accept."""
    states = machine.union if isinstance(machine, TaskSet) else machine
    shared = np.zeros((2, len(machine.levels)), dtype=bool)
    shared[states.accepting.astype(int), machine.level_of_state] = True
    return None if (shared[0] & shared[1]).any() else shared[1]
