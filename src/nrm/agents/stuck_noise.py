"""Exploration noise at test time for agents that are stuck.

A policy that samples its actions can hover: values have a small hill on the way, and after each step off it the next
one leads back. Training cuts such episodes off; in a test nobody does. Where the memory has shown the same for long, a
few steps are therefore sampled with strong noise, all with the same draw.
"""

from __future__ import annotations

import torch
from torch import Tensor

NOISE_SCALE = 7.0
"""How many times stronger the noise is."""


class StuckNoise:
    """The noise that actions are sampled with, of environments side by side."""

    def __init__(self, after: int | None) -> None:
        """`after`: steps without anything new before the first burst of noise; None for never."""
        self._after = after
        self._since: Tensor | None = None
        """(envs,) steps since the memory showed something new; -1 where an episode begins."""
        self._shown = self._noise = torch.empty(0)

    def noise(self, feature: Tensor, fresh: Tensor) -> Tensor:
        """(envs, …) the noise of the next step, for features (envs, width) and noise (envs, …) that was just drawn."""
        if self._after is None:
            return fresh
        if self._since is None:
            self._since, self._shown, self._noise = fresh.new_full((len(fresh),), -1, dtype=torch.int64), feature, fresh
        # A step of the task changes some of the numbers by 1; those of beliefs drift a little all the time.
        new = (self._since < 0) | ((feature - self._shown).abs().amax(-1) > 0.5)
        self._shown = torch.where(new[:, None], feature, self._shown)
        self._since = torch.where(new, 0, self._since + 1)
        # A burst takes a fifth of these steps; where it led to nothing new, the next one comes after half of them.
        step = (self._since - self._after) % max(1, self._after // 2)
        burst = ((self._since >= self._after) & (step < max(1, self._after // 5)))[:, None]
        self._noise = torch.where(burst & (step > 0)[:, None], self._noise, fresh)
        return torch.where(burst, NOISE_SCALE * self._noise, fresh)

    def begin(self, done: Tensor) -> None:
        """Episodes (envs,) are over, and others begin in their place."""
        if self._since is not None:
            self._since = torch.where(done, -1, self._since)
