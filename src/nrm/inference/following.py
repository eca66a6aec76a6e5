"""Where episodes are in a learned machine, and what it says: by letters, or by beliefs where these may be wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence
from nrm.inference.hypothesis import Hypothesis
from nrm.inference.misreading import Misreader


class Following(NamedTuple):
    """Steps of episodes in a machine, in the order of the evidence."""

    states: NDArray[np.int64]
    """(steps,) the state after each; the most probable one, where letters may be wrong."""
    said: NDArray[np.int64]
    """(steps,) the potential that the machine says, before it is shown; the most probable one."""
    slips: NDArray[np.float64]
    """(steps,) how probable it is that the letter told or the potential shown is wrong."""


def following(known: Hypothesis, evidence: Evidence) -> Following:
    """Let episodes go through a machine."""
    if not evidence.label_noise:
        states = known.follow(evidence)
        said = known.levels[states]
        return Following(states, said, (said != evidence.levels).astype(np.float64))
    table, levels = known.table_over(evidence.letter_count), known.levels
    reader = Misreader(evidence)
    forward = reader.forward(table, levels)
    before = reader.after(table, levels, forward)
    of_level = np.zeros((known.states, evidence.level_count))
    of_level[np.arange(known.states), levels] = 1.0
    states = (before * reader.shown[:, levels][evidence.levels]).argmax(1)
    slips = np.zeros(len(states))
    slips[reader.steps[reader.present]] = reader.slips(table, levels, forward).sum(2)[reader.present]
    return Following(states, (before @ of_level).argmax(1), slips)
