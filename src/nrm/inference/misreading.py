"""Letters that are sometimes wrong: how probable episodes are in a machine, and where in it they may have been.

One wrong letter leaves a machine in a wrong state for the rest of an episode, so what is followed is a belief: the
machine with letters as they may have been is an input-output hidden Markov model (Bengio and Frasconi, 1995). How
probable its potentials are is exact, by going forwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence
from nrm.inference.letter_model import Floats, LetterModel, told_pairs

Ints = NDArray[np.int64]

SLIP = 1e-3
"""How probable it is at least that a state shows another potential, so that wrong machines can be compared."""


def leads_of(table: Ints) -> Floats:
    """(letters, states, states) whether a letter leads from a state to another one."""
    result = np.zeros((table.shape[1], len(table), len(table)))
    np.put_along_axis(result, table.T[:, :, None], 1.0, 2)
    return result


def shown_levels(level_count: int, reward_noise: float) -> Floats:
    """(shown, potential) how probable it is that a state of a potential shows another one."""
    slip = max(reward_noise, SLIP)
    result = np.full((level_count, level_count), slip / max(1, level_count - 1))
    np.fill_diagonal(result, 1 - slip if level_count > 1 else 1.0)
    return result


class Forward(NamedTuple):
    """How episodes go through a machine."""

    before: Floats
    """(time, episodes, states) the belief before each step, given all that was told and shown until then."""
    chances: Floats
    """(time, episodes) how probable the potential was that each step showed, given the same; 1 past the end."""


class Misreader:
    """Episodes whose letters may be wrong, side by side. The longest one is the first."""

    def __init__(self, evidence: Evidence, model: LetterModel | None = None) -> None:
        """`model`: which letters are probable; by default what these episodes say of it."""
        order = np.argsort(-evidence.lengths, kind="stable")
        begun, lengths = evidence.begun[order], evidence.lengths[order]
        self._going = [int(np.searchsorted(-lengths, -time, side="left")) for time in range(int(lengths[0]))]
        """How many episodes still go on at each time."""
        steps = begun + np.arange(int(lengths[0]))[:, None]
        self.present = steps < begun + lengths
        """(time, episodes) whether the episode still goes on."""
        self.steps = np.where(self.present, steps, 0)
        """(time, episodes) the number of the step in the evidence."""
        self.letters, self.levels = evidence.letters[self.steps], evidence.levels[self.steps]
        """(time, episodes)"""
        model = model or LetterModel.of(told_pairs(evidence), evidence.label_noise)
        letters = model.letters(self.letters, self.present)
        self.likely = np.where(self.present[..., None], letters, 0.0)
        """(time, episodes, letters) how probable each is to have been read."""
        self.shown = shown_levels(evidence.level_count, evidence.reward_noise)

    def forward(self, table: Ints, levels: Ints) -> Forward:
        """Go through a machine: (states, letters) the next states, and (states,) potentials."""
        states = len(levels)
        flat = leads_of(table).transpose(1, 0, 2).reshape(states, -1)
        shown = self.shown[:, levels]
        before, chances = np.zeros((*self.letters.shape, states)), np.ones(self.letters.shape)
        belief = np.zeros((self._going[0], states))
        belief[:, 0] = 1.0
        for time, going in enumerate(self._going):
            belief = before[time, :going] = belief[:going]
            # For all letters at once: one product of matrices is faster than many small ones.
            each = (belief @ flat).reshape(going, -1, states)
            after = (self.likely[time, :going, None] @ each)[:, 0] * shown[self.levels[time, :going]]
            chances[time, :going] = after.sum(1)
            belief = after / chances[time, :going, None]
        return Forward(before, chances)

    def backward(self, table: Ints, levels: Ints, chances: Floats) -> Floats:
        """(time, episodes, states) how probable all potentials from a step on are, were it to lead to a state.

        As a multiple of how probable they were (time, episodes); 0 past the end.
        """
        states = len(levels)
        flat = leads_of(table).transpose(2, 0, 1).reshape(states, -1)
        shown = self.shown[:, levels]
        result = np.zeros((*self.letters.shape, states))
        for time in range(len(self._going) - 1, -1, -1):
            going = self._going[time]
            result[time, :going] = shown[self.levels[time, :going]] / chances[time, :going, None]
            later = self._going[time + 1] if time + 1 < len(self._going) else 0
            if later:
                each = (result[time + 1, :later] @ flat).reshape(later, -1, states)
                result[time, :later] *= (self.likely[time + 1, :later, None] @ each)[:, 0]
        return result

    def counts(self, table: Ints, levels: Ints, forward: Forward) -> Floats:
        """(states, letters) how often each transition was probably taken, given what was shown until then."""
        steps = np.moveaxis(forward.before, 2, 0) / forward.chances
        sums = np.stack(
            [steps[:, self.levels == level] @ self.likely[self.levels == level] for level in range(len(self.shown))]
        )
        result: Floats = (sums * self.shown[:, levels[table]]).sum(0)
        return result

    def slips(self, table: Ints, levels: Ints, forward: Forward) -> Floats:
        """(time, episodes, states) how probable it is that a step was taken in a state and went wrong.

        That is: another letter was read than the one told, or another potential shown than that of the next state.
        """
        told = np.take_along_axis(self.likely, self.letters[..., None], 2)
        after = levels[table[:, self.letters]].transpose(1, 2, 0)
        right = np.where(after == self.levels[..., None], np.diag(self.shown)[after], 0.0)
        every = np.zeros_like(forward.before)
        for level, shown in enumerate(self.shown[:, levels[table]]):
            mine = self.levels == level
            every[mine] = self.likely[mine] @ shown.T
        result: Floats = forward.before * (every - told * right) / forward.chances[..., None]
        return result

    def after(self, table: Ints, levels: Ints, forward: Forward) -> Floats:
        """(steps of the evidence, states) the belief after each step, before its potential is looked at."""
        leads = leads_of(table)
        result = np.zeros((int(self.present.sum()), len(levels)))
        for letter in range(table.shape[1]):
            chances = forward.before * self.likely[:, :, letter, None]
            result[self.steps[self.present]] += chances[self.present] @ leads[letter]
        return result
