"""Networks that find the agent in an image, see things from there, and plan ways around what is in the way."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nrm.agents.actions import ActionHead
from nrm.agents.networks import NETWORKS, NetworkKind, Sight
from nrm.agents.networks.layers import CHANNELS, FILTERS, SUMMARY_WIDTH, Patches, SharedTrunk, nearly_uniform, spread
from nrm.neural import narrow_convolution

HEADS = 2
"""Places that are looked for. One can settle on something that only looks like the agent; not all of them do."""
DIRECTIONS = 16
"""Ways to weigh what lies around each of them."""


class EgocentricNetwork(SharedTrunk):
    """Actor and critic on what lies where, seen from the agent.

    In randomised layouts, what to do depends on where things are *from here*. So a softmax over places says where the
    agent is, a (n, places); maps m of what is wanted are written by the memory, as in the dynamic network; and weights
    w of offsets, the same wherever the agent is, sum them up:

        out[f, k] = sum over places p, q of a[p] m[f, q] w[k, q - p]

    The weights begin as a compass, each for things that lie in one direction, so that what is learned of things near
    at hand holds for those far away. Nobody says what the agent looks like: attention is learned with the policy, from
    what moves, and from which action moved it.
    """

    offsets: Tensor
    coordinates: Tensor
    name = "egocentric"
    extra = 0
    """Maps that `sought` gives besides those that the memory writes."""

    def __init__(self, sight: Sight, memory: int, head: ActionHead) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__()
        sight.check_axes(3, self.name)
        self.encoder = Patches(sight.shape, sight.sample)
        height, across = self.encoder.places
        self._places = height * across
        self._map = (CHANNELS, height, across)
        # The agent may lie across several places, so its neighbours tell too.
        self.looks = nn.Conv2d(CHANNELS, HEADS, 3, padding=1)
        self.place = nn.Parameter(torch.zeros(HEADS, self._places))
        self.position = nn.Parameter(torch.randn(CHANNELS, self._places) * 0.1)
        self.filters = nn.Linear(memory, CHANNELS * FILTERS)
        self.wanted = nn.Linear(memory, SUMMARY_WIDTH)
        compass = _compass(height, across).unsqueeze(1)
        self.weights = nn.Parameter(compass + torch.randn(len(compass), HEADS, DIRECTIONS) / 32)
        self.register_buffer("offsets", _offsets(height, across), persistent=False)
        places = torch.cartesian_prod(torch.arange(float(height)), torch.arange(float(across)))
        self.register_buffer("coordinates", places, persistent=False)
        self.full = nn.Sequential(
            nn.Linear(HEADS * ((FILTERS + self.extra) * DIRECTIONS + CHANNELS) + SUMMARY_WIDTH, 128),
            nn.ReLU(),
            nn.Linear(128, 128),
            nn.ReLU(),
        )
        self.actor = nearly_uniform(head.layer(128))
        self.critic = nn.Linear(128, 1)
        self.read = nn.Linear((HEADS + 1) * CHANNELS, SUMMARY_WIDTH)
        self.moves = head.layer(2 * HEADS)

    def attention(self, features: Tensor) -> Tensor:
        """(n, heads, places): how much the agent is taken to be at each place; features (n, width)."""
        scores = narrow_convolution(self.looks, features.reshape(-1, *self._map)).flatten(2) + self.place
        return torch.softmax(4.0 * scores, -1)  # attention moves faster than other parameters

    def motion(self, features: Tensor, following: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """How features (n, width) led to the following ones, as attention sees it.

        (n, scores) of the actions, by where to where it went; and where it looks, (n, heads, places) before and after.
        """
        looks = (self.attention(features), self.attention(following))
        before, after = (one @ self.coordinates for one in looks)
        return self.moves((after - before).flatten(1)), looks

    def summary(self, features: Tensor) -> Tensor:
        """(…, SUMMARY_WIDTH): what the agent's place shows, and the strongest of each channel over all places."""
        leading = features.shape[:-1]
        maps = features.reshape(-1, CHANNELS, self._places)
        result: Tensor = self.read(torch.cat([_shown(maps, self.attention(features)), maps.amax(2)], 1)).tanh()
        return result.view(*leading, SUMMARY_WIDTH)

    def sought(self, maps: Tensor, memory: Tensor) -> Tensor:
        """(n, FILTERS + extra, places) where that is which the memory looks for in maps (n, CHANNELS, places)."""
        filters = self.filters(memory).view(-1, FILTERS, CHANNELS)
        return torch.bmm(filters, maps + self.position).relu()

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        maps = features.reshape(-1, CHANNELS, self._places)
        here = self.attention(features)
        wanted = self.sought(maps, memory)
        # (n, heads, places, directions): the weights of all places, from where each head looks.
        table = self.weights[self.offsets].permute(2, 0, 1, 3).flatten(2)
        around = torch.bmm(here.transpose(0, 1), table).view(HEADS, -1, self._places, DIRECTIONS)
        seen = (wanted.unsqueeze(0) @ around).transpose(0, 1).flatten(1).relu()
        result: Tensor = self.full(torch.cat([seen, _shown(maps, here), self.wanted(memory).relu()], 1))
        return result


def _shown(maps: Tensor, attention: Tensor) -> Tensor:
    """(n, channels * heads): what maps (n, channels, places) show where the heads look, (n, heads, places)."""
    return torch.bmm(maps, attention.transpose(1, 2)).flatten(1)


def _compass(height: int, across: int) -> Tensor:
    """(offsets, DIRECTIONS): how far each offset lies in each of the directions, fading over 2 places or 6."""
    down, right = torch.cartesian_prod(torch.arange(1.0 - height, height), torch.arange(1.0 - across, across)).T
    far, angle = torch.hypot(down, right), torch.atan2(down, right)
    reaches = (2.0, 6.0)
    turns = torch.arange(DIRECTIONS // len(reaches)) * (2 * torch.pi * len(reaches) / DIRECTIONS)
    towards = torch.cos(angle[:, None] - turns) * (far > 0)[:, None]
    return torch.cat([0.5 * towards * torch.exp(-far / reach)[:, None] for reach in reaches], 1)


def _offsets(height: int, across: int) -> Tensor:
    """(places, places): the number of the offset from the first place to the second."""
    down, right = (torch.arange(side)[None, :] - torch.arange(side)[:, None] + side - 1 for side in (height, across))
    numbers = down[:, None, :, None] * (2 * across - 1) + right[None, :, None, :]
    return numbers.reshape(height * across, height * across)


class PlanningNetwork(EgocentricNetwork):
    """The egocentric network, with maps of how near what is wanted is, by ways around what must be avoided.

    Where the straight way is closed, directions are not enough: values spread from what the memory wants over all
    places but those that it avoids, round by round (value iteration networks, Tamar et al., 2016).
    """

    name = "planning"
    extra = 4

    def __init__(self, sight: Sight, memory: int, head: ActionHead) -> None:
        """`memory`: the width of the memory's feature."""
        super().__init__(sight, memory, head)
        self.ways = nn.Linear(FILTERS, 2 * self.extra)

    def sought(self, maps: Tensor, memory: Tensor) -> Tensor:
        wanted = super().sought(maps, memory)
        _, height, across = self._map
        # Neighbours lie far apart in memory, so that what is done to all rows of a batch is done at once.
        scores = (self.ways.weight @ wanted).permute(2, 0, 1).contiguous() + self.ways.bias
        # Scores begin around 0: at first little is wanted, and little in the way.
        wants, avoids = scores[..., : self.extra] - 2.0, 2.0 - scores[..., self.extra :]
        goal, opened = (part.sigmoid().reshape(height, across, -1) for part in (wants, avoids))
        values = spread(goal, 0.9 * opened, height + across - 2)  # a tenth is lost with every place of open way
        planned = values.view(self._places, -1, self.extra).permute(1, 2, 0)
        return torch.cat([wanted, 4.0 * planned], 1)  # values differ little from place to place


def _kind(build: type[EgocentricNetwork], label: str) -> NetworkKind:
    return NetworkKind(build.name, label, lambda _: SUMMARY_WIDTH, build)


NETWORKS.register(_kind(EgocentricNetwork, "things as seen from the agent"))
NETWORKS.register(_kind(PlanningNetwork, "ways as seen from the agent"))
