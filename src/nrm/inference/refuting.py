"""When episodes refute a machine: at once where all is right, by counts where rewards or letters may be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.chance import improbable
from nrm.inference.evidence import Evidence
from nrm.inference.following import following
from nrm.inference.hypothesis import Hypothesis, states_before
from nrm.inference.letter_model import LetterModel, told_pairs
from nrm.inference.misreading import Misreader

UNLIKELY = 0.01
"""An episode with so many wrong potentials that chance has them more seldom than this is not explained by it."""


class Refutation(NamedTuple):
    """The episode that refuted a machine."""

    episode: int
    """Its place in the evidence."""
    step: int
    """The step that the machine calls impossible, counting from 0."""
    expected: int
    """The potential that the machine says there, as an index."""
    shown: int
    """The potential that was shown."""


class Tally:
    """How often a machine was right about each of its transitions, since it was learned."""

    def __init__(self, hypothesis: Hypothesis) -> None:
        self.hypothesis = hypothesis
        self.tries = np.zeros(hypothesis.table.shape)
        """(states, letters) how often each letter was told in each state."""
        self.wrong = np.zeros(hypothesis.table.shape)
        """(states, letters) how often another potential was shown then than the machine says."""

    def counts(self) -> dict[str, NDArray[np.float64]]:
        """All that is counted, by name."""
        return {"tries": self.tries, "wrong": self.wrong}

    def load(self, counts: Mapping[str, NDArray[np.number]]) -> None:
        """Go on from what `counts` gave."""
        for name in self.counts():
            setattr(self, name, counts[name].astype(np.float64))

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
        refuted = improbable(self.wrong, self.tries, evidence.reward_noise)
        steps = np.flatnonzero(wrong & refuted[before, evidence.letters])
        if not len(steps):
            return None
        step = int(steps[0])
        return Refutation(*evidence.place(step), int(said[step]), int(evidence.levels[step]))


class MisreadTally(Tally):
    """The same where letters may be wrong: all counts are probable ones."""

    def __init__(self, hypothesis: Hypothesis, learned_from: Evidence) -> None:
        super().__init__(hypothesis)
        self.expected = np.zeros(hypothesis.table.shape)
        """(states, letters) how often the machine would be wrong if it were the task's, or the letter told."""
        self.pairs = told_pairs(learned_from)
        """(letters + 1, letters) what was told after what, as of `LetterModel`, so far."""

    def counts(self) -> dict[str, NDArray[np.float64]]:
        """What is expected too."""
        return {**super().counts(), "expected": self.expected, "pairs": self.pairs}

    def add(self, evidence: Evidence) -> Refutation | None:
        """By beliefs. A step is wrong where the letter told does not explain the potential."""
        count = evidence.letter_count
        self.tries, self.wrong, self.expected = (
            _wider(counts, count) for counts in (self.tries, self.wrong, self.expected)
        )
        self.pairs = np.pad(self.pairs, (0, count - self.pairs.shape[1])) + told_pairs(evidence)
        table, levels = self.hypothesis.table_over(count), self.hypothesis.levels
        reader = Misreader(evidence, LetterModel.of(self.pairs, evidence.label_noise))
        forward = reader.forward(table, levels)
        slips = reader.slips(table, levels, forward)
        chances = 1 - np.take_along_axis(reader.likely, reader.letters[..., None], 2) * reader.shown[0, 0]
        for counts, steps in (
            (self.tries, forward.before),
            (self.wrong, slips),
            (self.expected, forward.before * chances),
        ):
            np.add.at(counts.T, reader.letters[reader.present], steps[reader.present])
        refuted = improbable(self.wrong, self.tries, self.expected / np.maximum(self.tries, 1e-9))
        before = forward.before.argmax(2)
        said = levels[table[before, reader.letters]]
        found = reader.present & (slips.sum(2) > 0.5) & refuted[before, reader.letters] & (said != reader.levels)
        steps = reader.steps[found]
        if not len(steps):
            return None
        first = int(steps.argmin())
        return Refutation(*evidence.place(int(steps[first])), int(said[found][first]), int(reader.levels[found][first]))


def explained(known: Hypothesis, evidence: Evidence) -> float:
    """The share of episodes that a machine explains, as far as what is wrong in them may be chance."""
    wrong = np.add.reduceat(following(known, evidence).slips, evidence.begun)
    return float(1 - improbable(wrong, evidence.lengths, evidence.reward_noise + evidence.label_noise, UNLIKELY).mean())


def _wider(counts: NDArray[np.float64], letters: int) -> NDArray[np.float64]:
    """Room for letters that came later."""
    missing = letters - counts.shape[1]
    return counts if missing <= 0 else np.pad(counts, ((0, 0), (0, missing)))
