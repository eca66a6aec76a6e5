"""Layers that grounders, policies and feature extractors of other libraries share."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor, nn


class FlatFeatures(nn.Module):
    """Observations as they are, flattened, shifted and scaled: (n, …) to (n, width)."""

    def __init__(self, shape: Sequence[int], centre: Tensor | None = None, spread: Tensor | None = None) -> None:
        super().__init__()
        self.width = prod(shape)
        self.register_buffer("centre", torch.zeros(self.width) if centre is None else centre.flatten().float())
        self.register_buffer("spread", torch.ones(self.width) if spread is None else spread.flatten().float())
        self.centre: Tensor
        self.spread: Tensor

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width)."""
        scaled: Tensor = (observations.flatten(1).float() - self.centre) / self.spread
        return scaled


def waves(numbers: Tensor, frequencies: Sequence[float]) -> Tensor:
    """Numbers (n, width), then their sines and cosines at each frequency: (n, width * (1 + 2 * frequencies))."""
    turned = [numbers * frequency for frequency in frequencies]
    return torch.cat([numbers, *(part for angle in turned for part in (angle.sin(), angle.cos()))], -1)
