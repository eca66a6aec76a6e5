"""Episodes that a machine cannot produce, whatever the symbols are: the task is not theirs."""

from __future__ import annotations

from typing import NamedTuple

import torch

from nrm.machines import LevelCodec
from nrm.neural.batches import EpisodeBatch
from nrm.neural.moore import ProbabilisticMoore


class Contradiction(NamedTuple):
    """The first step that no letters at all can explain."""

    episode: int
    """Its place in the batch."""
    step: int
    """Counting from 0."""
    reason: str


def contradiction(machine: ProbabilisticMoore, batch: EpisodeBatch) -> Contradiction | None:
    """Where a batch first shows a level that cannot follow those before it; None where all of it is possible.

    Only what is known can contradict: parts that are learned give everything some probability.
    """
    if machine.learned:
        return None
    moves, shows = machine.possible_moves(batch), machine.possible_levels(batch)
    possible = (machine.starts(batch) > 0).float().unsqueeze(1)
    for step in range(batch.seen.shape[1]):
        ahead = (torch.matmul(possible, moves) > 0).float()
        shown = shows.gather(2, batch.levels[:, step, None, None].expand(-1, shows.shape[1], 1)).transpose(1, 2)
        after = ahead * shown
        real = batch.lengths > step
        wrong = real & ~(after > 0).any(2)[:, 0]
        if bool(wrong.any()):
            episode = int(wrong.nonzero()[0])
            seen = float(machine.levels[batch.levels[episode, step]])
            reachable = machine.levels[((ahead[episode] @ shows[episode])[0] > 0)]
            return Contradiction(
                episode,
                step,
                f"level {seen:g} cannot follow the levels before it, whatever the symbols are; "
                f"{machine.name_of(batch, episode)} can output {LevelCodec(reachable)} there. The task contradicts the "
                "episodes; is it the task that they were recorded with?",
            )
        possible = after.where(real[:, None, None], possible)
    return None
