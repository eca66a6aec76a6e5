"""What networks of agents share: trunks, scaled vectors, maps of image features, and values that spread over maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nrm.errors import ConfigError
from nrm.neural import (
    OVERLAPPING,
    TILE,
    DistinctPatches,
    FlatFeatures,
    distinct_patches,
    patch_features,
    places,
)

SUMMARY_WIDTH = 64
"""Width of what memories that learn read."""
CHANNELS = 32
"""Features of a place of an image."""
FILTERS = 16
"""Maps that the memory writes."""


class SharedTrunk(nn.Module):
    """An actor and a critic on one hidden layer; subclasses make both, and say what comes before."""

    actor: nn.Module
    critic: nn.Module
    read: nn.Module

    def hidden(self, features: Tensor, memory: Tensor) -> Tensor:
        """(n, hidden) from features (n, width) and memory (n, memory)."""
        raise NotImplementedError(f"{type(self).__name__} needs a method hidden(features, memory)")

    def forward(self, features: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.hidden(features, memory)
        return self.actor(hidden), self.critic(hidden).squeeze(-1)

    def summary(self, features: Tensor) -> Tensor:
        result: Tensor = self.read(features).tanh()
        return result


@torch.no_grad()
def nearly_uniform(actor: nn.Module) -> nn.Module:
    """A last layer whose first policy is nearly the same everywhere."""
    for parameter in actor.parameters():
        parameter.mul_(0.1)
    return actor


class RunningFeatures(FlatFeatures):
    """Flat observations, centred and scaled by running statistics, and cut at ten standard deviations.

    What is noticed counts from the next `settle` on, so that a policy stays the same from acting to learning.
    """

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
        """(n, width). What was never met before must not drown everything else."""
        return super().forward(observations).clamp(-10.0, 10.0)


class Patches(nn.Module):
    """Images as maps of features: two strided convolutions, so that one place of the map sees 12x12 pixels, 8 apart.

    Where `side` is 2, places do not overlap and see 8x8 pixels: what lies next to a thing does not change its looks.
    """

    def __init__(self, shape: Sequence[int], sample: Tensor | None, side: int = OVERLAPPING) -> None:
        """`sample`: (n, *shape) images to normalise over; `side`: tiles of 4x4 pixels along a place, 2 or 3."""
        super().__init__()
        self._side = side
        height, across, depth = shape
        self.places = places(height, across)
        if min(height, across) < TILE:
            raise ConfigError(f"images of {height}x{across} pixels are too small for this network; 4x4 are the least")
        self.first = nn.Conv2d(depth, CHANNELS // 2, TILE, stride=TILE)
        self.second = nn.Conv2d(CHANNELS // 2, CHANNELS, side, stride=2, padding=side - 2)
        self.width = CHANNELS * self.places[0] * self.places[1]
        self.register_buffer("centre", torch.full((depth,), 127.5))
        self.register_buffer("spread", torch.tensor(64.0))
        self.centre: Tensor
        self.spread: Tensor
        if sample is not None:
            pixels = sample.float().flatten(0, 2)
            self.centre.copy_(pixels.mean(0))
            self.spread.copy_((pixels - self.centre).std().clamp(min=1.0))
            self._spread_out(sample)

    @torch.no_grad()
    def _spread_out(self, sample: Tensor) -> None:
        """Centre every channel on the sample and scale it to unit spread: otherwise some never speak."""
        maps = ((sample.float() - self.centre) / self.spread).permute(0, 3, 1, 2)
        for layer in (self.first, self.second):
            outputs = layer(maps)
            mean, spread = outputs.mean((0, 2, 3)), outputs.std((0, 2, 3)).clamp(min=1e-3)
            assert layer.bias is not None
            layer.weight /= spread.view(-1, 1, 1, 1)
            layer.bias.copy_((layer.bias - mean) / spread)
            maps = layer(maps).relu()

    def distinct(self, images: Tensor) -> DistinctPatches | None:
        """Images (n, height, width, channels) by their distinct patches, where these are few; `forward` takes both."""
        return distinct_patches(images, self._side)

    def forward(self, observations: Tensor | DistinctPatches) -> Tensor:
        """(n, width) from images (n, height, width, channels) of whole numbers 0 to 255."""
        # Scaling the few weights instead of the many pixels is the same.
        weight = self.first.weight / self.spread
        assert self.first.bias is not None
        bias = self.first.bias - (weight * self.centre.view(1, -1, 1, 1)).sum((1, 2, 3))
        return patch_features(observations, (weight, bias), self.second, self.places).flatten(1)


def wrapped_around(maps: Tensor) -> Tensor:
    """Maps (n, height, width, channels) with a rim of one cell more on every side, where opposite edges meet.

    torch's circular padding is for channels in front, around which convolutions of so few of them are slow.
    """
    maps = torch.cat([maps[:, :, -1:], maps, maps[:, :, :1]], 2)
    return torch.cat([maps[:, -1:], maps, maps[:, :1]], 1)


# The slices of a map with a rim of one place that are its neighbours below, above, to the right and to the left.
_INSIDE, _ON, _BACK = slice(1, -1), slice(2, None), slice(None, -2)
_NEIGHBOURS = ((_ON, _INSIDE), (_BACK, _INSIDE), (_INSIDE, _ON), (_INSIDE, _BACK))


class Spread(torch.autograd.Function):
    """The values v of v = max(goal, opened * the greatest v of the four neighbours), after some rounds.

    `goal` and `opened` are (rows, columns, n), `opened` less than 1: what is wanted fades from place to place along a
    way, and nothing gets through what is closed. Gradients follow the best way from each place. Once nothing changes
    any more they are those of the rounds themselves, but take a fraction of the time.
    """

    @staticmethod
    def forward(ctx: Any, goal: Tensor, opened: Tensor, rounds: int) -> Tensor:
        rows, columns, count = goal.shape
        rim = goal.new_zeros(rows + 2, columns + 2, count)
        value = rim[_INSIDE, _INSIDE]
        value.copy_(goal)
        for _ in range(rounds):
            near = torch.maximum(*(rim[place] for place in _NEIGHBOURS[:2]))
            for place in _NEIGHBOURS[2:]:
                torch.maximum(near, rim[place], out=near)
            torch.maximum(goal, near.mul_(opened), out=value)
        best, which = torch.stack([rim[place] for place in _NEIGHBOURS]).max(0)
        ctx.save_for_backward(goal, opened, best, which)
        ctx.rounds = rounds
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """What flows into a place flows on to its best neighbour, up to where something is wanted."""
        goal, opened, best, which = ctx.saved_tensors
        flow = gradients[0].contiguous()
        rows, columns, count = goal.shape
        moved = (opened * best > goal).to(flow.dtype)
        along = [opened * moved * (which == number) for number in range(len(_NEIGHBOURS))]
        arrived, rim = torch.zeros_like(goal), flow.new_empty(rows + 2, columns + 2, count)
        for _ in range(ctx.rounds + 1):
            arrived += flow
            rim.zero_()
            for place, share in zip(_NEIGHBOURS, along, strict=True):
                rim[place] += flow * share
            flow = rim[_INSIDE, _INSIDE].clone()
        return arrived * (1 - moved), arrived * moved * best, None


def spread(goal: Tensor, opened: Tensor, rounds: int) -> Tensor:
    """(rows, columns, n) values, from what is wanted and how open places are (rows, columns, n); see `Spread`."""
    result: Tensor = Spread.apply(goal, opened, rounds)  # type: ignore[no-untyped-call]
    return result
