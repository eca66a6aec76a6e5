"""A network for positions and other vectors: fields over them, mixed as the task says; fields are learned or sensed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks import NETWORKS, NetworkKind, Sight
from nrm.agents.networks.layers import SUMMARY_WIDTH, RunningFeatures, SharedTrunk, nearly_uniform
from nrm.neural import directions, waves

FIELDS = 24
"""Functions of what is seen that each letter has of its own."""


class Waves(RunningFeatures):
    """Numbers, scaled, with waves along drawn ways: what changes over a short way becomes easy to see."""

    ways: Tensor

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__(shape)
        # The slowest and fastest have 1 and 10 radians for each standard deviation of the numbers.
        self.register_buffer("ways", directions(self.width, 64, 1.0, 10.0))
        self.width += 2 * 64

    def forward(self, observations: Tensor) -> Tensor:
        return waves(super().forward(observations), self.ways)


class FourierNetwork(SharedTrunk):
    """Actor and critic on fields over what is seen, mixed as the view of the task says.

    Every letter has fields, E[p](x), which can say how it lies from here. The view's numbers about letters weigh them
    against each other: with u[c, p] how much letter p helps or harms, now or next, the network sees

        M[c](x) = sum_p u[c, p] E[p](x)

    so that where a letter lies is learned once, whether it is to be reached or avoided. What takes one back harms like
    what loses the task, also in u, which the network sees with the distance. Memories of another kind weigh fields by a
    linear map of their feature.
    """

    def __init__(self, sight: Sight, memory: int, head: ActionHead) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        sight.check_axes(1, "fourier")
        self.encoder = Waves(sight.shape)
        width = self.encoder.width
        # A view is blocks of numbers, one for each letter: gains and losses now, then next; and the distance left.
        # Of other memories, 4 mixtures of 16 fields are learned.
        self._slots, channels = 16, 4
        self.weights: nn.Linear | None = None
        if sight.letters is not None and memory > sight.letters and (memory - 1) % (2 * sight.letters) == 0:
            self._slots, channels = sight.letters, (memory - 1) // sight.letters
        else:
            self.weights = nn.Linear(memory, channels * self._slots)
        self.trunk = nn.Linear(width, 128)
        self.fields = nn.Linear(128, self._slots * FIELDS)
        self.first = nn.Linear(128 + memory + channels * FIELDS, 192)
        self.second = nn.Linear(192, 128)
        self.actor = nearly_uniform(head.layer(128))
        self.critic = nn.Linear(128, 1)
        self.read = nn.Linear(width, SUMMARY_WIDTH)

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        trunk = self.trunk(features).relu()
        fields = self.fields(trunk).relu().view(len(trunk), -1, FIELDS)
        weights = self._weights(memory)
        mixed = torch.bmm(weights, fields).flatten(1)
        known = memory if self.weights is not None else torch.cat([weights.flatten(1), memory[:, -1:]], 1)
        result: Tensor = self.second(self.first(torch.cat([trunk, known, mixed], 1)).relu()).relu()
        return result

    def _weights(self, memory: Tensor) -> Tensor:
        """(n, channels, slots) how much each field counts."""
        if self.weights is not None:
            learned: Tensor = self.weights(memory)
            return learned.view(len(memory), -1, self._slots)
        gain, lost = memory[:, :-1].view(len(memory), -1, 2, self._slots).unbind(2)
        return torch.cat([gain.relu(), lost + (-gain).relu()], 1)


class SensorNetwork(SharedTrunk):
    """The same where rows of a sensor are the fields: each says already how things of one kind lie from here.

    The weights are a linear map of the memory's feature, since no letter says which row shows it.
    """

    def __init__(self, sight: Sight, memory: int, head: ActionHead) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        assert sight.spec.sensor is not None
        self._rows, bins = sight.spec.sensor
        self.encoder = RunningFeatures(sight.shape)
        width = self.encoder.width
        self._own = width - self._rows * bins
        self.weights = nn.Linear(memory, 8 * self._rows)
        self.first = nn.Linear(self._own + memory + 8 * bins, 128)
        self.second = nn.Linear(128, 128)
        self.actor = nearly_uniform(head.layer(128))
        self.critic = nn.Linear(128, 1)
        self.read = nn.Linear(width, SUMMARY_WIDTH)

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        own, sensed = features[:, : self._own], features[:, self._own :]
        weights = self.weights(memory).view(len(memory), -1, self._rows)
        mixed = torch.bmm(weights, sensed.reshape(len(memory), self._rows, -1)).flatten(1)
        result: Tensor = self.second(self.first(torch.cat([own, memory, mixed], 1)).tanh()).tanh()
        return result


def _build(sight: Sight, memory: int, head: ActionHead) -> SharedTrunk:
    kind = FourierNetwork if sight.spec.sensor is None else SensorNetwork
    return kind(sight, memory, head)


NETWORKS.register(NetworkKind("fourier", "fields over vectors, one for each letter", lambda _: SUMMARY_WIDTH, _build))
