"""Learning where to look before learning what is there, from what moves between successive observations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from nrm.neural.batches import EpisodeBatch

STEPS = 100
"""Most steps of learning where to look."""
PAIRS = 64
"""Pairs of successive observations that a step sees."""
RATE = 3e-3
"""Adam's step size."""
SEEN = 0.05
"""Nats that may be missed of what moves: nothing more is to be learned then."""


def notice(grounder: nn.Module, batches: Sequence[EpisodeBatch], generator: torch.Generator) -> None:
    """Teach a grounder that attends to places where things move; one that does not, or knows it, stays as it is.

    Such grounders have a method `missed` of observations and those that followed them. What an observation means is
    told by rewards alone; where to look for it need not be.
    """
    miss = getattr(grounder, "missed", None)
    if miss is None:
        return
    seen = [(batch, *_successive(batch)) for batch in batches]
    seen = [(batch, first, then) for batch, first, then in seen if len(first)]
    if not seen:
        return
    parameters = [value for value in grounder.parameters() if value.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    for step in range(STEPS):
        batch, first, then = seen[step % len(seen)]
        chosen = torch.randint(len(first), (PAIRS,), generator=generator).to(first.device)
        loss = miss(batch.observations[first[chosen]], batch.observations[then[chosen]])
        if not loss.requires_grad or float(loss.detach()) <= SEEN:
            return
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def _successive(batch: EpisodeBatch) -> tuple[torch.Tensor, torch.Tensor]:
    """(pairs,) each: observations, by number, and those that followed them in their episodes."""
    real = batch.mask[:, 1:]
    return batch.seen[:, :-1][real], batch.seen[:, 1:][real]
