"""A network whose filters are written by the memory: what is looked for depends on what is left to do."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.patches import Patches
from nrm.agents.networks.registry import MOST_CELLS, NETWORKS, NetworkConfig, NetworkKind, Sight
from nrm.agents.networks.trunk import SharedTrunk
from nrm.errors import ConfigError

FILTERS = 16
"""Maps that the memory writes."""
CHANNELS = 32
READ = 64
"""Width of what memories that learn read."""


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
    al., 2016). Where the memory is the view of a task, "how much does the letter of this cell help?" is one such mix:
    the network need not learn it task by task, nor letter by letter. Then a 3x3 convolution and a full layer.
    """

    def __init__(self, sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        if len(sight.shape) != 3:
            raise ConfigError(
                f"the dynamic network looks at images (height, width, channels), not at {tuple(sight.shape)}; use "
                "--network.encoder paper"
            )
        small = max(sight.shape[:2]) <= MOST_CELLS
        self.encoder = Cells(sight.shape) if small else Patches(sight.shape, sight.sample if config.normalise else None)
        places = self.encoder.places
        channels = self.encoder.width // (places[0] * places[1])
        self._map = (channels, *places)
        self.filters = nn.Linear(memory, channels * FILTERS)
        self.wanted = nn.Linear(memory, READ)
        self.near = nn.Conv2d(FILTERS, CHANNELS, 3, padding=1, padding_mode="circular" if sight.wraps else "zeros")
        self.full = nn.Linear(CHANNELS * places[0] * places[1] + READ, 128)
        self.actor = head.layer(128)
        self.critic = nn.Linear(128, 1)
        self.read = nn.Linear(self.encoder.width, READ)
        with torch.no_grad():
            for parameter in self.actor.parameters():
                parameter.mul_(0.1)  # the first policy is nearly the same everywhere

    def summary(self, features: Tensor) -> Tensor:
        """(…, READ) of features (…, width)."""
        result: Tensor = self.read(features).tanh()
        return result

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n, 128) from features (n, width) and memory (n, memory)."""
        channels, *places = self._map
        filters = self.filters(memory).view(-1, FILTERS, channels)
        maps = torch.bmm(filters, features.reshape(-1, channels, places[0] * places[1])).relu()
        maps = self.near(maps.view(-1, FILTERS, *places)).relu()
        joined = torch.cat([maps.flatten(1), self.wanted(memory).relu()], 1)
        result: Tensor = self.full(joined).relu()
        return result


def _build(sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> DynamicNetwork:
    return DynamicNetwork(sight, memory, head, config)


NETWORKS.register(NetworkKind("dynamic", "filters that the memory writes", lambda _: READ, _build))
