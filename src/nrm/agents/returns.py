"""Advantages and returns of a window of steps, with episodes that end inside it."""

from __future__ import annotations

import torch
from torch import Tensor


def advantages(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    gamma: float,
    gae_lambda: float = 1.0,
) -> Tensor:
    """(time, envs) generalised advantage estimates; `gae_lambda=1` gives n-step returns minus values.

    `values`: V of the observation that each action was taken at. `next_values`: V of what each action led to, before
    any reset. A terminated episode is worth nothing more; a truncated one is bootstrapped with `next_values`. In both
    cases nothing flows back from the next episode. All inputs are (time, envs) without gradient.
    """
    delta = rewards + gamma * next_values * ~terminated - values
    carried = gamma * gae_lambda * ~(terminated | truncated)
    running = torch.zeros_like(delta[0])
    result = []
    for here, later in zip(reversed(delta.unbind(0)), reversed(carried.unbind(0)), strict=True):
        running = torch.addcmul(here, later, running)
        result.append(running)
    return torch.stack(result[::-1])


def levels(rewards: Tensor, done: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
    """(time, envs) the sum of each episode's rewards up to each step, and (envs,) what the next window goes on from.

    `start`: (envs,) the sums before the first step. Where rewards are differences of potentials, this is the
    potential reached (above that of the beginning).
    """
    running = start
    result = []
    for paid, over in zip(rewards.unbind(0), done.unbind(0), strict=True):
        result.append(running + paid)
        running = torch.where(over, 0.0, result[-1])
    return torch.stack(result), running
