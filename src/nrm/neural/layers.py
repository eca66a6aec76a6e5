"""Layers that grounders, policies and feature extractors of other libraries share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor, nn
from torch.nn.functional import fold


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


def directions(width: int, count: int, slowest: float, fastest: float) -> Tensor:
    """(width, count) ways along which waves go: drawn evenly by torch's generator, ever faster from first to last.

    How fast is told in radians for each unit, in equal ratios.
    """
    drawn = torch.randn(width, count)
    speeds = torch.logspace(math.log10(slowest), math.log10(fastest), count)
    ways: Tensor = drawn / drawn.norm(dim=0) * speeds
    return ways


def waves(numbers: Tensor, ways: Tensor) -> Tensor:
    """Numbers (n, width), and sines and cosines along ways (width, count): (n, width + 2 * count).

    A network learns what changes over a short way far sooner from these (Fourier features, Tancik et al., 2020).
    """
    angles = numbers @ ways
    return torch.cat([numbers, angles.sin(), angles.cos()], -1)


def narrow_convolution(layer: nn.Conv2d, maps: Tensor) -> Tensor:
    """(n, out, rows, columns): a 3x3 convolution of maps (n, channels, rows, columns) to very few channels.

    What each place says of itself and of its neighbours, added up where it is said: one product, and faster than
    convolutions that are made for many channels.
    """
    weight = layer.weight.flip(2, 3).permute(0, 2, 3, 1).flatten(0, 2)
    said = torch.matmul(weight, maps.flatten(2))
    assert layer.bias is not None
    return fold(said, maps.shape[2:], kernel_size=3, padding=1) + layer.bias[:, None, None]
