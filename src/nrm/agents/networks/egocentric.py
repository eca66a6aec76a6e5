"""A network that finds the agent in an image and sees things from there."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks.registry import NETWORKS, NetworkConfig, NetworkKind, Sight
from nrm.agents.networks.residual import CHANNELS, Patches
from nrm.agents.networks.trunk import SharedTrunk
from nrm.errors import ConfigError

FILTERS = 16
"""Maps that the memory writes."""
DIRECTIONS = 32
"""Ways to weigh what lies around the agent."""
READ = 64
"""Width of what memories that learn read."""
SHARPNESS = 4.0
"""How fast attention moves, compared with other parameters."""


class EgocentricNetwork(SharedTrunk):
    """Actor and critic on what lies where, seen from the agent.

    Where things are drawn anew, what to do depends on where they are *from here*: a policy on places of the image has
    to learn that for each place of the agent. So a softmax over places says where the agent is, a (n, places); maps m
    of what is wanted are written by the memory, as in the dynamic network; and weights w of offsets, the same wherever
    the agent is, sum them up:

        out[f, k] = sum over places p, q of a[p] m[f, q] w[k, q - p]

    Nobody says what the agent looks like: attention is learned with the policy, from rewards.
    """

    offsets: Tensor

    def __init__(self, sight: Sight, memory: int, head: ActionHead, normalise: bool) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        if len(sight.shape) != 3:
            raise ConfigError(
                f"the egocentric network looks at images (height, width, channels), not at {tuple(sight.shape)}; use "
                "--network.encoder paper"
            )
        self.encoder = Patches(sight.shape, sight.sample if normalise else None)
        height, across = self.encoder.places
        self._places = height * across
        self.looks = nn.Parameter(torch.empty(CHANNELS).uniform_(-(CHANNELS**-0.5), CHANNELS**-0.5))
        self.place = nn.Parameter(torch.zeros(self._places))
        self.position = nn.Parameter(torch.randn(CHANNELS, self._places) * 0.1)
        self.filters = nn.Linear(memory, CHANNELS * FILTERS)
        self.wanted = nn.Linear(memory, READ)
        self.weights = nn.Parameter(torch.randn((2 * height - 1) * (2 * across - 1), DIRECTIONS) / 8)
        self.register_buffer("offsets", _offsets(height, across), persistent=False)
        self.full = nn.Sequential(
            nn.Linear(FILTERS * DIRECTIONS + CHANNELS + READ, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        )
        self.actor = head.layer(128)
        self.critic = nn.Linear(128, 1)
        self.read = nn.Linear(2 * CHANNELS, READ)
        with torch.no_grad():
            for parameter in self.actor.parameters():
                parameter.mul_(0.1)  # the first policy is nearly the same everywhere

    def attention(self, features: Tensor) -> Tensor:
        """(n, places): how much the agent is taken to be at each place; features (n, width)."""
        maps = features.reshape(-1, CHANNELS, self._places)
        scores = torch.einsum("ncp,c->np", maps, self.looks) + self.place
        return torch.softmax(SHARPNESS * scores, -1)

    def summary(self, features: Tensor) -> Tensor:
        """(…, READ): what the agent's place shows, and the strongest of each channel over all places."""
        leading = features.shape[:-1]
        maps = features.reshape(-1, CHANNELS, self._places)
        result: Tensor = self.read(torch.cat([_shown(maps, self.attention(features)), maps.amax(2)], 1)).tanh()
        return result.view(*leading, READ)

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n, 128) from features (n, width) and memory (n, memory)."""
        maps = features.reshape(-1, CHANNELS, self._places)
        here = self.attention(features)
        filters = self.filters(memory).view(-1, FILTERS, CHANNELS)
        wanted = torch.bmm(filters, maps + self.position).relu()
        # (n, places, directions): the weights of all places, from where the agent is.
        around = (here @ self.weights[self.offsets].flatten(1)).view(-1, self._places, DIRECTIONS)
        seen = torch.bmm(wanted, around).flatten(1).relu()
        result: Tensor = self.full(torch.cat([seen, _shown(maps, here), self.wanted(memory).relu()], 1))
        return result


def _shown(maps: Tensor, attention: Tensor) -> Tensor:
    """(n, channels): what maps (n, channels, places) show where one looks, (n, places)."""
    return torch.bmm(maps, attention.unsqueeze(-1)).squeeze(-1)


def _offsets(height: int, across: int) -> Tensor:
    """(places, places): the number of the offset from the first place to the second."""
    down, right = (torch.arange(side)[None, :] - torch.arange(side)[:, None] + side - 1 for side in (height, across))
    numbers = down[:, None, :, None] * (2 * across - 1) + right[None, :, None, :]
    return numbers.reshape(height * across, height * across)


def _build(sight: Sight, memory: int, head: ActionHead, config: NetworkConfig) -> EgocentricNetwork:
    return EgocentricNetwork(sight, memory, head, config.normalise)


NETWORKS.register(NetworkKind("egocentric", "things as seen from the agent", lambda _: READ, _build))
