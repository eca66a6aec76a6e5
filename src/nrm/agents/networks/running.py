"""Vectors that are scaled by what was seen so far."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nrm.neural import FlatFeatures


class RunningFeatures(FlatFeatures):
    """Flat observations, centred and scaled by running statistics, and cut at ten standard deviations.

    What is noticed counts from the next `settle` on, so that a policy stays the same from acting to learning.
    """

    most = 10.0
    """Scaled numbers stay within this: what was never met before must not drown everything else."""

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__(shape)
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))
        self.register_buffer("mean", torch.zeros(self.width, dtype=torch.float64))
        self.register_buffer("squares", torch.zeros(self.width, dtype=torch.float64))
        self.count: Tensor
        self.mean: Tensor
        self.squares: Tensor

    def notice(self, observations: Tensor) -> None:
        """Take in observations (n, …): count, mean, and sum of squared deviations from it."""
        flat = observations.flatten(1).double()
        mean = flat.mean(0)
        total = self.count + len(flat)
        apart = mean - self.mean
        self.squares += (flat - mean).square().sum(0) + apart.square() * (self.count * len(flat) / total)
        self.mean += apart * (len(flat) / total)
        self.count.copy_(total)

    def settle(self) -> None:
        """Scale by what was noticed. Numbers that never changed are only centred."""
        if not self.count:
            return
        spread = (self.squares / self.count).sqrt()
        self.centre.copy_(self.mean)
        self.spread.copy_(torch.where(spread > 1e-6, spread, 1.0))

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width)."""
        return super().forward(observations).clamp(-self.most, self.most)
