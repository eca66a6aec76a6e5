"""When episodes refute a machine: at once where rewards are right, by counts where they are sometimes wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.chance import improbable
from nrm.inference.evidence import Evidence
from nrm.inference.hypothesis import Hypothesis, states_before


class Refutation(NamedTuple):
    """The episode that refuted a machine."""

    episode: int
    """Its place in the evidence."""
    step: int
    """The step that the machine calls impossible, counting from 0."""
    expected: int
    """The level that the machine says there, as an index."""
    shown: int
    """The level that was shown."""


class Tally:
    """How often a machine was right about each of its transitions, since it was learned."""

    def __init__(self, hypothesis: Hypothesis) -> None:
        self.hypothesis = hypothesis
        self.tries = np.zeros_like(hypothesis.table)
        """(states, letters) how often each transition was taken."""
        self.wrong = np.zeros_like(hypothesis.table)
        """(states, letters) how often it then showed another level."""

    def add(self, evidence: Evidence) -> Refutation | None:
        """Take in episodes; the one that refutes the machine, the first step of all, if any does."""
        self.tries, self.wrong = (_wider(counts, evidence.letter_count) for counts in (self.tries, self.wrong))
        after = self.hypothesis.follow(evidence)
        before = states_before(after, evidence)
        said = self.hypothesis.levels[after]
        wrong = said != evidence.levels
        np.add.at(self.tries, (before, evidence.letters), 1)
        if not wrong.any():
            return None
        np.add.at(self.wrong, (before[wrong], evidence.letters[wrong]), 1)
        refuted = improbable(self.wrong, self.tries, evidence.flips)
        steps = np.flatnonzero(wrong & refuted[before, evidence.letters])
        if not len(steps):
            return None
        step = int(steps[0])
        return Refutation(*evidence.place(step), int(said[step]), int(evidence.levels[step]))


def _wider(counts: NDArray[np.int64], letters: int) -> NDArray[np.int64]:
    """Room for letters that came later."""
    missing = letters - counts.shape[1]
    return counts if missing <= 0 else np.pad(counts, ((0, 0), (0, missing)))
