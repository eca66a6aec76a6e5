"""Which letters were truly read, where those that are told are sometimes wrong: by what usually follows what.

A machine that may remember anything soon finds out which letters follow each other, in an environment where that is
so, for it tells wrong letters from right ones; and then it has states for it. So this is known beforehand, and to no
machine's merit: letters are a Markov chain, those told are seen through noise, and each step has its probable true
letters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence

Floats = NDArray[np.float64]

PRIOR = 2.0
"""Steps from each letter that are thought of beside those seen, as if letters did not depend on each other."""
TRUE = 0.25
"""The share of what is told that counts as true at least: who says that more is wrong than is must not lose a letter
that is read so seldom that slips alone might have told it."""
LEAST_RATE = 1e-4
"""How often each letter is thought to be read at least."""


@dataclass(frozen=True, eq=False)
class LetterModel:
    """A Markov chain of letters, seen through noise."""

    first: Floats
    """(letters,) how probable each is at the beginning."""
    follows: Floats
    """(letters, letters) how probable each is after another."""
    told: Floats
    """(true, told) how probable it is that a letter is told as another."""

    @classmethod
    def of(cls, pairs: Floats, label_noise: float) -> LetterModel:
        """From what was told (`told_pairs`), with this probability of a wrong letter."""
        count = pairs.shape[1]
        told = np.full((count, count), label_noise / max(1, count - 1))
        np.fill_diagonal(told, 1 - label_noise if count > 1 else 1.0)
        # Those told are the true ones, mixed by slips: undone, of pairs on both sides.
        back = np.linalg.inv(told)
        rates = np.maximum(pairs.sum(0) @ back, TRUE * pairs.sum(0)) / max(1.0, pairs.sum())
        rates = np.maximum(rates, LEAST_RATE)
        undone = np.concatenate([pairs[:1], back.T @ pairs[1:]]) @ back
        chain = np.maximum(undone, TRUE * pairs) + PRIOR * rates
        chain /= chain.sum(1, keepdims=True)
        return cls(chain[0], chain[1:], told)

    def letters(self, told: NDArray[np.int64], present: NDArray[np.bool_]) -> Floats:
        """(time, episodes, letters) how probable each is to have been read, given all letters told (time, episodes).

        `present`: (time, episodes) whether the episode still goes on.
        """
        seen = self.told.T[told]
        result = np.empty((*told.shape, len(self.first)))
        belief = np.broadcast_to(self.first, result.shape[1:])
        for time in range(len(told)):
            belief = belief * seen[time]
            belief = result[time] = belief / belief.sum(1, keepdims=True)
            belief = belief @ self.follows
        later = np.ones(result.shape[1:])
        for time in range(len(told) - 1, -1, -1):
            result[time] *= later
            result[time] /= result[time].sum(1, keepdims=True)
            later = np.where(present[time][:, None], (later * seen[time]) @ self.follows.T, 1.0)
            later /= later.sum(1, keepdims=True)
        return result


def told_pairs(evidence: Evidence) -> Floats:
    """(letters + 1, letters) how often each was told after each other one; in the first row, at the beginning."""
    before = np.empty_like(evidence.letters)
    before[1:] = evidence.letters[:-1] + 1
    before[evidence.begun] = 0
    result = np.zeros((evidence.letter_count + 1, evidence.letter_count))
    np.add.at(result, (before, evidence.letters), 1.0)
    return result
