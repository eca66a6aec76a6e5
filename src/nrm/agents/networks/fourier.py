"""A network for positions and other vectors: fields over them that the memory mixes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.registry import NETWORKS, NetworkConfig, NetworkKind, Sight
from nrm.agents.networks.running import RunningFeatures
from nrm.agents.networks.trunk import SharedTrunk
from nrm.errors import ConfigError
from nrm.neural.layers import directions, waves

WAVES = 64
SLOWEST, FASTEST = 1.0, 5.0
"""Of the waves, in radians for each standard deviation of the numbers."""
FIELDS = 96
"""Functions of what is seen."""
FILTERS = 16
"""Mixtures of them that the memory writes."""
HIDDEN = 256
READ = 64
"""Width of what memories that learn read."""


class Waves(RunningFeatures):
    """Numbers, scaled, with waves along drawn ways: what changes over a short way becomes easy to see."""

    ways: Tensor

    def __init__(self, shape: Sequence[int], scaled: bool) -> None:
        """`scaled`: whether numbers are scaled by what was seen so far."""
        super().__init__(shape)
        self.scaled = scaled
        self.register_buffer("ways", directions(self.width, WAVES, SLOWEST, FASTEST))
        self.width += 2 * WAVES

    def settle(self) -> None:
        """Scale by what was noticed, unless numbers stay as they are."""
        if self.scaled:
            super().settle()

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width)."""
        return waves(super().forward(observations), self.ways)


class FourierNetwork(SharedTrunk):
    """Actor and critic on fields over what is seen, mixed as the memory says.

    A linear map of the memory's feature is the weights of the mixtures, as in the network `dynamic`. Where the memory
    is the view of a task and what is seen a position, a field can say how a letter lies from here; what helps and what
    hurts then weigh such fields against each other, and this need not be learned task by task.
    """

    def __init__(self, sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        if len(sight.shape) != 1:
            raise ConfigError(
                f"the network 'fourier' looks at vectors, not at observations of shape {tuple(sight.shape)}; use "
                "--network.encoder auto"
            )
        self.encoder = Waves(sight.shape, config.normalise)
        width = self.encoder.width
        self.fields = nn.Linear(width, FIELDS)
        self.filters = nn.Linear(memory, FILTERS * FIELDS)
        self.first = nn.Linear(FIELDS + memory + FILTERS, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.actor = head.layer(HIDDEN)
        self.critic = nn.Linear(HIDDEN, 1)
        self.read = nn.Linear(width, READ)
        with torch.no_grad():
            for parameter in self.actor.parameters():
                parameter.mul_(0.1)  # the first policy is nearly the same everywhere

    def summary(self, features: Tensor) -> Tensor:
        """(…, READ) of features (…, width)."""
        result: Tensor = self.read(features).tanh()
        return result

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n, 256) from features (n, width) and memory (n, memory)."""
        fields = self.fields(features).relu()
        mixed = torch.bmm(self.filters(memory).view(-1, FILTERS, FIELDS), fields.unsqueeze(-1)).squeeze(-1).relu()
        result: Tensor = self.second(self.first(torch.cat([fields, memory, mixed], 1)).relu()).relu()
        return result


def _build(sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> FourierNetwork:
    return FourierNetwork(sight, memory, head, config)


NETWORKS.register(NetworkKind("fourier", "fields over vectors that the memory mixes", lambda _: READ, _build))
