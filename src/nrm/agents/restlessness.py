"""Agents that get no further go a few steps at random.

A policy that samples its actions can hover: its values have a small hill somewhere on the way, and after each step off
it the next one leads back. Training cuts such episodes off and begins elsewhere; in a test nobody does. Whoever has
seen the same for long therefore leaves the place, as one would, and goes on from another.
"""

from __future__ import annotations

import torch
from torch import Tensor

STRIDE = 5
"""One goes at random for a fifth of the patience, in one direction: its steps are all sampled with the same noise."""
AGAIN = 2
"""Where one stride has led to nothing new, the next comes after half of the patience."""
LOUDER = 7.0
"""How many times stronger the noise is in them."""
DIFFERENT = 0.5
"""What the memory shows has changed where one of its numbers has by as much. Numbers of views and states lie from -1 to
1, and a step of the task changes some by 1; those of beliefs drift a little all the time."""


class Restlessness:
    """The noise that actions are sampled with, of environments side by side."""

    def __init__(self, patience: int | None) -> None:
        """`patience`: steps without anything new before the first stride; None for never."""
        self._patience = patience
        self._since: Tensor | None = None
        """(envs,) steps since the memory showed something new; -1 where an episode begins."""
        self._shown = self._noise = torch.empty(0)

    def noise(self, feature: Tensor, fresh: Tensor) -> Tensor:
        """(envs, …) the noise of the next step, for features (envs, width) and noise (envs, …) that was just drawn."""
        if self._patience is None:
            return fresh
        if self._since is None:
            self._since, self._shown, self._noise = fresh.new_full((len(fresh),), -1, dtype=torch.int64), feature, fresh
        new = (self._since < 0) | ((feature - self._shown).abs().amax(-1) > DIFFERENT)
        self._shown = torch.where(new[:, None], feature, self._shown)
        self._since = torch.where(new, 0, self._since + 1)
        step = (self._since - self._patience) % max(1, self._patience // AGAIN)
        strides = ((self._since >= self._patience) & (step < max(1, self._patience // STRIDE)))[:, None]
        self._noise = torch.where(strides & (step > 0)[:, None], self._noise, fresh)
        return torch.where(strides, LOUDER * self._noise, fresh)

    def begin(self, done: Tensor) -> None:
        """Episodes (envs,) are over, and others begin in their place."""
        if self._since is not None:
            self._since = torch.where(done, -1, self._since)
