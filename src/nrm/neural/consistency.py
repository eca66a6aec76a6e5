"""Episodes that a machine cannot produce, whatever the symbols are: the task is not theirs."""

from __future__ import annotations

from typing import NamedTuple

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
    moves = (machine.transition_probs() > 0).any(0).float()
    shows = (machine.reward_probs() > 0).float()
    possible = machine.start.float().expand(len(batch.lengths), -1)
    for step in range(batch.seen.shape[1]):
        ahead = ((possible @ moves) > 0).float()
        after = ahead * shows.t()[batch.levels[:, step]]
        real = batch.lengths > step
        wrong = real & ~(after > 0).any(1)
        if bool(wrong.any()):
            episode = int(wrong.nonzero()[0])
            seen = float(machine.levels[batch.levels[episode, step]])
            reachable = machine.levels[((ahead[episode] @ shows) > 0)]
            return Contradiction(
                episode,
                step,
                f"level {seen:g} cannot follow the levels before it, whatever the symbols are; this machine can output "
                f"{LevelCodec(reachable)} there. The task contradicts the episodes; is it the task that they were "
                "recorded with?",
            )
        possible = after.where(real[:, None], possible)
    return None
