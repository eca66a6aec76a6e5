"""Verdicts of a detector: along one recording, or on many whole ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from nrm.aliases import BoolArray, FloatArray
from nrm.detectors.recordings import Recording
from nrm.machines import MooreMachine, Verdict
from nrm.neural import EpisodeBatch, NeuralRewardMachine


class Judgement(NamedTuple):
    """Where a rule stands after each step of a recording: four probabilities that sum to 1, each (time,)."""

    satisfied: FloatArray
    """It holds, whatever comes."""
    holds: FloatArray
    """It holds if the recording ends here, and can still be violated."""
    open: FloatArray
    """It does not hold if the recording ends here, and can still be satisfied."""
    violated: FloatArray
    """It does not hold, whatever comes."""

    @classmethod
    @torch.no_grad()
    def of(cls, model: NeuralRewardMachine, rule: MooreMachine, recording: Recording) -> Judgement:
        """Of a recording (time, …), by the model of a rule."""
        states = model(torch.from_numpy(recording)[None]).states[0].double().numpy()
        return cls(*(states[:, [kind is one for kind in rule.verdicts]].sum(1) for one in Verdict))

    @property
    def probability(self) -> float:
        """That the whole recording satisfies the rule."""
        return float(self.satisfied[-1] + self.holds[-1])

    @property
    def verdict(self) -> bool:
        """Whether the whole recording satisfies the rule."""
        return self.probability >= 0.5


@torch.no_grad()
def passed(
    models: Sequence[NeuralRewardMachine], batch: EpisodeBatch, rules: NDArray[np.int64], accepting: BoolArray
) -> BoolArray:
    """(recordings,) whether each more probably than not satisfies its rule; each rule has a model.

    `rules`: (recordings,) the number of the rule of each; `accepting`: (potentials,) those of accepting states.
    """
    found = np.zeros(len(rules), dtype=bool)
    for number in np.unique(rules):
        mine = np.flatnonzero(rules == number)
        last = []
        for part in batch.pick(torch.from_numpy(mine)).parts():
            potentials = models[number].batch_rewards(part, models[number].ground_batch(part))
            last.append(potentials[torch.arange(len(part.lengths)), part.lengths - 1])
        found[mine] = torch.cat(last).numpy()[:, accepting].sum(1) >= 0.5
    return found
