"""What is checked before learning: that the episodes are possible at all in a known machine."""

from __future__ import annotations

import torch

from nrm.errors import ContradictionError, listing
from nrm.neural.batches import EpisodeBatch
from nrm.neural.moore import ProbabilisticMoore


def check_possible(machine: ProbabilisticMoore, batch: EpisodeBatch, task: str = "") -> None:
    """Raise `ContradictionError` at the first step whose level no letters at all can explain.

    Only what is known can contradict: parts that are learned give everything some probability.
    """
    if machine.learned:
        return
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
            raise ContradictionError(
                f"{task}episode {episode}, step {step} (counting from 0): level {seen:g} cannot follow the levels "
                f"before it, whatever the symbols are; this machine can output "
                f"{listing(f'{level:g}' for level in reachable)} there. "
                "The task contradicts the episodes; is it the task that they were recorded with?",
                episode,
                step,
            )
        possible = torch.where(real[:, None], after, possible)
