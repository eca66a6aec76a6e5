"""A network whose filters are written by the memory: what is looked for depends on what is left to do."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks import NETWORKS, NetworkKind, Sight, is_grid
from nrm.agents.networks.layers import (
    CHANNELS,
    FILTERS,
    SUMMARY_WIDTH,
    Patches,
    SharedTrunk,
    nearly_uniform,
    wrapped_around,
)
from nrm.neural import OVERLAPPING


class Cells(nn.Module):
    """Small grids as they are: a place for each cell, a channel for each of its numbers."""

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__()
        height, across, depth = shape
        self.places = (height, across)
        self.channels = depth
        self.width = height * across * depth

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width), place by place in the last axis, channel by channel in the one before."""
        numbers = observations.flatten(1, 2).transpose(1, 2)
        return numbers.float().flatten(1)


class DynamicNetwork(SharedTrunk):
    """Actor and critic on maps of features that are mixed as the memory says.

    A linear map of the memory's feature is the weights of a 1x1 convolution (dynamic filter networks, De Brabandere et
    al., 2016). Of the view of a task, "how much does the letter of this cell help?" is one such mix for all tasks.
    """

    def __init__(self, sight: Sight, memory: int, head: ActionHead) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        sight.check_axes(3, "dynamic")
        small = is_grid(sight.shape)
        side = 2 if sight.spec.tiled else OVERLAPPING
        self.encoder = Cells(sight.shape) if small else Patches(sight.shape, sight.sample, side)
        places = self.encoder.places
        channels = self.encoder.width // (places[0] * places[1])
        self._map = (channels, *places)
        self.mixed = None if small else _whitening(self.encoder, sight.sample, channels)
        self.filters = nn.Linear(memory, channels * FILTERS)
        self.wanted = nn.Linear(memory, SUMMARY_WIDTH)
        self._wraps = sight.spec.toroidal
        self.near = nn.Conv2d(FILTERS, CHANNELS, 3)
        self.full = nn.Linear(CHANNELS * places[0] * places[1] + SUMMARY_WIDTH, 128)
        self.actor = nearly_uniform(head.layer(128))
        self.critic = nn.Linear(128, 1)
        self.read = nn.Linear(self.encoder.width, SUMMARY_WIDTH)

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        channels, *places = self._map
        cells = places[0] * places[1]
        filters = self.filters(memory).view(-1, FILTERS, channels)
        # Channels come last in memory all the way: convolutions of few channels are faster so.
        shift: Tensor | None = None
        if self.mixed is not None:  # to mix the few filters is the same as to mix what all places show
            shift = filters @ self.mixed.bias
            filters = filters @ self.mixed.weight
        maps = torch.bmm(features.reshape(-1, channels, cells).transpose(1, 2), filters.transpose(1, 2))
        maps = (maps if shift is None else maps + shift.unsqueeze(1)).relu().view(-1, *places, FILTERS)
        if self._wraps:
            maps = wrapped_around(maps)
        layer, whole = self.near, self.full.weight
        around = 0 if self._wraps else 1
        maps = nn.functional.conv2d(maps.permute(0, 3, 1, 2), layer.weight, layer.bias, padding=around).relu()
        # The full layer knows its inputs channel by channel; to turn its few weights is cheaper than all maps.
        seen = whole[:, : CHANNELS * cells].view(-1, CHANNELS, cells).transpose(1, 2).flatten(1)
        wanted = nn.functional.linear(self.wanted(memory).relu(), whole[:, CHANNELS * cells :], self.full.bias)
        return (nn.functional.linear(maps.permute(0, 2, 3, 1).flatten(1), seen) + wanted).relu()


@torch.no_grad()
def _whitening(encoder: nn.Module, sample: Tensor | None, channels: int) -> nn.Linear:
    """A layer that, at first, makes features of a sample's places uncorrelated, and equally spread in all directions.

    Otherwise what things have in common drowns what tells them apart.
    """
    layer = nn.Linear(channels, channels)
    if sample is None:
        return layer
    shown = encoder(sample).view(len(sample), channels, -1).transpose(1, 2).flatten(0, 1)
    centre = shown.mean(0)
    values, vectors = torch.linalg.eigh(torch.cov(shown.T))
    # Features below a thousandth of the largest spread are not made larger.
    scales = (values.clamp(min=0) + 1e-3 * values[-1]).rsqrt()
    # All features of a place together vary as those of a grid of zeros and ones half of whose cells are empty. With
    # larger inputs the first steps of descent are too long.
    scales *= (0.5 / (values * scales.square()).sum()).sqrt()
    weight = vectors @ torch.diag(scales) @ vectors.T
    layer.weight.copy_(weight)
    layer.bias.copy_(-weight @ centre)
    return layer


NETWORKS.register(NetworkKind("dynamic", "filters that the memory writes", lambda _: SUMMARY_WIDTH, DynamicNetwork))
