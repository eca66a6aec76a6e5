"""Episodes that a machine cannot produce, whatever the symbols are: the task is not theirs."""

from __future__ import annotations

from typing import NamedTuple

import torch

from nrm.machines import LevelCodec
from nrm.neural.batches import EpisodeBatch
from nrm.neural.moore import ProbabilisticMoore
from nrm.neural.sparse_recursion import moved


class Contradiction(NamedTuple):
    """The first step that no letters at all can explain."""

    episode: int
    """Its place in the batch."""
    step: int
    """Counting from 0."""
    reason: str


def contradiction(machine: ProbabilisticMoore, batch: EpisodeBatch) -> Contradiction | None:
    """Where a batch first shows a potential that cannot follow those before it; None where all of it is possible.

    Only what is known can contradict: parts that are learned give everything some probability.
    """
    if machine.learned:
        return None
    targets, shows = machine.targets(batch), machine.possible_levels(batch)
    possible = (machine.starts(batch) > 0).float()
    any_letter = torch.ones(len(possible), targets.shape[2], device=possible.device)
    for step in range(batch.seen.shape[1]):
        ahead = (moved(possible, any_letter, targets) > 0).float()
        shown = shows.gather(2, batch.levels[:, step, None, None].expand(-1, shows.shape[1], 1))
        after = ahead * shown.squeeze(2)
        real = batch.lengths > step
        wrong = real & ~(after > 0).any(1)
        if bool(wrong.any()):
            episode = int(wrong.nonzero()[0])
            seen = float(machine.levels[batch.levels[episode, step]])
            reachable = machine.levels[(ahead[episode] @ shows[episode] > 0)]
            return Contradiction(
                episode,
                step,
                f"potential {seen:g} cannot follow the potentials before it, whatever the symbols are; "
                f"{machine.name_of(batch, episode)} can output {LevelCodec(reachable)} there. The task contradicts the "
                "episodes; is it the task that they were recorded with?",
            )
        possible = after.where(real[:, None], possible)
    return None
