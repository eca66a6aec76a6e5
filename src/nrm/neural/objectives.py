"""What learning minimises, by name."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from nrm.neural.batches import EpisodeBatch
from nrm.neural.config import Objective
from nrm.neural.model import NeuralRewardMachine


def sequence(model: NeuralRewardMachine, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
    """Minus the log-likelihood of the whole reward sequences, in nats a step.

    The rewards seen so far are evidence about the machine's state; the paper's objective ignores it.
    """
    total, _ = model.batch_log_likelihood(batch, symbols)
    return -total.sum() / batch.steps


def marginal(model: NeuralRewardMachine, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
    """The paper's loss: cross-entropy of each step's potential under the open-loop belief, in nats a step."""
    rewards = model.batch_rewards(batch, symbols)
    seen = rewards.gather(-1, batch.levels.unsqueeze(-1)).squeeze(-1)
    # A potential of probability 0 would have no finite logarithm.
    logs = seen.clamp_min(float(torch.finfo(seen.dtype).tiny)).log()
    return -torch.where(batch.mask, logs, 0.0).sum() / batch.steps


OBJECTIVES: dict[Objective, Callable[[NeuralRewardMachine, EpisodeBatch, Tensor], Tensor]] = {
    "sequence": sequence,
    "marginal": marginal,
}
"""The objectives by name; the first is the default."""


def smoothed(symbols: Tensor, amount: float, independent: bool) -> Tensor:
    """Symbols mixed with a little ignorance, so that nothing that the machine can do has probability 0."""
    if not amount:
        return symbols
    even = 0.5 if independent else 1.0 / symbols.shape[-1]
    return (1 - amount) * symbols + amount * even
