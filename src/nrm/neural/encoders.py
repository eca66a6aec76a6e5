"""Encoders: modules from observations (n, …) to features (n, width), for grounders that go on from there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from nrm.errors import EpisodeError
from nrm.parts import Part, Parts

_CHANNELS = (16, 32)


def is_image(shape: Sequence[int]) -> bool:
    """Whether observations of a shape are images that a convolution can read."""
    return len(shape) == 3 and min(shape[:2]) >= 8


class VectorEncoder(nn.Module):
    """A layer with tanh on the numbers of an observation."""

    def __init__(self, shape: Sequence[int], width: int) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.width = width
        self.layer = nn.Linear(math.prod(shape), width)

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width)."""
        _check(observations, self.shape)
        flat = observations.reshape(len(observations), -1).to(self.layer.weight.dtype)
        encoded: Tensor = self.layer(flat).tanh()
        return encoded


class ImageEncoder(nn.Module):
    """Two convolutions with pooling and a layer, on images (n, height, width, channels).

    Whole numbers 0 to 255 are scaled to 0 to 1.
    """

    def __init__(self, shape: Sequence[int], width: int) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.width = width
        height, across, depth = shape
        layers: list[nn.Module] = []
        for wide in _CHANNELS:
            layers += [nn.Conv2d(depth, wide, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()]
            depth, height, across = wide, height // 2, across // 2
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Linear(depth * height * across, width), nn.ReLU())

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width)."""
        _check(observations, self.shape)
        images = observations.permute(0, 3, 1, 2).to(next(self.parameters()).dtype)
        encoded: Tensor = self.layers(images if observations.is_floating_point() else images / 255)
        return encoded


class PartsEncoder(nn.Module):
    """Rows of parts (n, …): images through convolutions, all numbers together through a layer, then joined."""

    def __init__(self, parts: Parts, width: int) -> None:
        """`width`: of an image's features, and of those of all numbers together."""
        super().__init__()
        self.parts = parts
        images = [part for part in parts.parts if part.kind == "image"]
        self.images = nn.ModuleList(ImageEncoder(part.shape, width) for part in images)
        numbers = sum(_numbers(part) for part in parts.parts if part.kind != "image")
        self.numbers = VectorEncoder((numbers,), width) if numbers else None
        self.width = width * (len(images) + (self.numbers is not None))

    def forward(self, rows: Tensor) -> Tensor:
        """(n, width)."""
        _check(rows, (self.parts.width,))
        split = self.parts.split(rows)
        images = [part for part in self.parts.parts if part.kind == "image"]
        features = [encoder(_unit(part, split[part.name])) for part, encoder in zip(images, self.images, strict=True)]
        if self.numbers is not None:
            given = [_scaled(part, split[part.name]) for part in self.parts.parts if part.kind != "image"]
            features.append(self.numbers(torch.cat(given, 1)))
        return torch.cat(features, 1)


Encoder = VectorEncoder | ImageEncoder | PartsEncoder


def encoder_for(observed: Sequence[int] | Parts, width: int) -> Encoder:
    """An encoder for observations of a shape, or for rows of parts."""
    if isinstance(observed, Parts):
        return PartsEncoder(observed, width)
    return ImageEncoder(observed, width) if is_image(observed) else VectorEncoder(observed, width)


def _numbers(part: Part) -> int:
    """How many numbers a part is encoded by."""
    return sum(part.categories) if part.kind == "categories" else math.prod(part.shape)


def _unit(part: Part, values: Tensor) -> Tensor:
    """Images between 0 and 1, whatever type the row has."""
    return values.float() / 255 if part.whole else values.float()


def _scaled(part: Part, values: Tensor) -> Tensor:
    """(n, numbers) what a layer reads of a part: categories one-hot, bounded numbers between -1 and 1."""
    flat = values.reshape(len(values), -1)
    if part.kind == "categories":
        first = torch.tensor(part.first, device=flat.device)
        columns = (flat.round().long() - first).unbind(1)
        return torch.cat(
            [
                one_hot(column.clamp(0, count - 1), count)
                for column, count in zip(columns, part.categories, strict=True)
            ],
            1,
        ).float()
    centre, spread = (torch.tensor(values, device=flat.device) for values in (part.centre, part.spread))
    return (flat.float() - centre) / spread


def _check(observations: Tensor, shape: tuple[int, ...]) -> None:
    found = tuple(observations.shape[1:])
    if found != shape and not (math.prod(found) == math.prod(shape) and len(shape) <= 1):
        raise EpisodeError(f"the grounder reads observations of shape {shape}, but got {found}")
