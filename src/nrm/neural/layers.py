"""Layers that grounders, policies and feature extractors of other libraries share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_max_pool2d, conv2d, fold, linear, one_hot, pad

from nrm.errors import EpisodeError
from nrm.observations import Part as Part
from nrm.observations import Parts as Parts


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
    """(width, count) ways along which waves go, drawn evenly, ever faster from first to last in equal ratios."""
    drawn = torch.randn(width, count)
    speeds = torch.logspace(math.log10(slowest), math.log10(fastest), count)
    ways: Tensor = drawn / drawn.norm(dim=0) * speeds
    return ways


def waves(numbers: Tensor, ways: Tensor) -> Tensor:
    """Numbers (n, width), with sines and cosines along ways (width, count): Fourier features (Tancik et al., 2020)."""
    angles = numbers @ ways
    return torch.cat([numbers, angles.sin(), angles.cos()], -1)


def narrow_convolution(layer: nn.Conv2d, maps: Tensor) -> Tensor:
    """(n, out, rows, columns): a 3x3 convolution to very few channels as one product, which is faster for these."""
    weight = layer.weight.flip(2, 3).permute(0, 2, 3, 1).flatten(0, 2)
    said = torch.matmul(weight, maps.flatten(2))
    assert layer.bias is not None
    return fold(said, maps.shape[2:], kernel_size=3, padding=1) + layer.bias[:, None, None]


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


def convolutions(shape: Sequence[int], channels: Sequence[int]) -> tuple[list[nn.Module], int]:
    """Convolutions with pooling and ReLU for images (height, width, channels), and how many numbers they give."""
    height, across, depth = shape
    layers: list[nn.Module] = []
    for wide in channels:
        layers += [nn.Conv2d(depth, wide, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()]
        depth, height, across = wide, height // 2, across // 2
    return [*layers, nn.Flatten()], depth * height * across


class ImageEncoder(nn.Module):
    """Two convolutions with pooling and a layer, on images (n, height, width, channels); bytes are scaled to 0 to 1."""

    def __init__(self, shape: Sequence[int], width: int) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.width = width
        layers, size = convolutions(shape, (16, 32))
        self.layers = nn.Sequential(*layers, nn.Linear(size, width), nn.ReLU())

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


def changed_places(before: Tensor, after: Tensor, places: Sequence[int]) -> Tensor:
    """(n, places) 1.0 where images (n, height, width, channels) differ, else 0.0; `places`: rows and columns."""
    pixels = (before != after).any(-1).unsqueeze(1).float()
    return adaptive_max_pool2d(pixels, list(places)).flatten(1)


def attention_loss(attention: Sequence[Tensor], changed: Tensor) -> Tensor:
    """How much attention misses what changes: the mean of -log of how much of it lies there, a scalar.

    `attention`: (n, …, places) each, of the images before and after; `changed` (n, places). Pairs that do not differ,
    or at more than a quarter of the places, do not count.
    """
    moved = changed.sum(-1)
    # Where more changes, the whole view has moved.
    counts = (moved > 0) & (moved <= 0.25 * changed.shape[-1])
    total = torch.zeros((), device=changed.device)
    for one in attention:
        there = torch.einsum("n...p,np->n...", one, changed)
        total = total - (there.reshape(len(changed), -1).clamp_min(1e-6).log().mean(1) * counts).sum()
    return total / (len(attention) * counts.sum().clamp_min(1))


TILE = 4
"""Pixels along the side of a tile: what the first convolution looks at, without overlap."""
OVERLAPPING = 3
"""Tiles along the side of a patch: what the second convolution looks at, every second tile. With three of them patches
overlap, so that nothing is cut; with two, a patch shows 8x8 pixels that no other one shows."""
WORTH = 0.25
"""The share of distinct patches up to which gathering is cheaper than computing all."""
# Odd numbers with bits all over, as hash functions multiply by.
_SPREAD, _MIX = -7046029254386353131, -4417276706812531889


def places(height: int, across: int) -> tuple[int, int]:
    """Rows and columns of patches in an image; a patch sees 12x12 or 8x8 pixels, and the next begins 8 further."""
    return -(-(height // TILE) // 2), -(-(across // TILE) // 2)


class DistinctPatches(NamedTuple):
    """Images (n, …) as numbers of patches."""

    tiles: Tensor
    """(distinct, tiles, pixels * depth) pixels of each distinct patch, tile by tile, by row, column and channel."""
    inside: Tensor
    """(distinct, tiles, 1) whether a tile lies in the image: at borders some do not."""
    numbers: Tensor
    """(n, places) which patch is where."""

    def used(self) -> DistinctPatches:
        """The same images without the patches that none of them shows."""
        shown = torch.zeros(len(self.tiles), dtype=torch.bool)
        shown[self.numbers.flatten()] = True
        moved = shown.cumsum(0) - 1
        return DistinctPatches(self.tiles[shown], self.inside[shown], moved[self.numbers])

    def at(self, rows: Tensor) -> DistinctPatches:
        """The images with these numbers."""
        return self._replace(numbers=self.numbers[rows])


def distinct_patches(images: Tensor, side: int = OVERLAPPING) -> DistinctPatches | None:
    """The distinct patches of images (n, height, width, channels) of bytes; None where they are many.

    `side`: tiles along a patch, two or three. Patches differ where 64 bits of a hash do.
    """
    if images.dtype != torch.uint8 or images.device.type != "cpu" or not len(images):
        return None
    count, height, across, depth = images.shape
    rows, columns = height // TILE, across // TILE
    if not (rows and columns):
        return None
    cut = images[:, : rows * TILE, : columns * TILE].contiguous()
    cells = cut.view(count, rows, TILE, columns, TILE * depth)
    hashes = _patch_hashes(_tile_hashes(cells), side)
    found, numbers = torch.unique(hashes, return_inverse=True)
    if len(found) > WORTH * hashes.numel():
        return None
    first = torch.empty(len(found), dtype=torch.int64)
    first[numbers.flatten()] = torch.arange(hashes.numel())
    tiles, inside = _tiles_of(cells, first, places(height, across), side)
    return DistinctPatches(tiles, inside, numbers.flatten(1))


def _tile_hashes(cells: Tensor) -> Tensor:
    """(n, rows, columns) a number for what each tile shows; cells (n, rows, 4, columns, 4 * depth) of bytes."""
    lines = cells.view(torch.int32)  # four bytes at once
    total = torch.full((cells.shape[0], cells.shape[1], cells.shape[3]), _SPREAD)
    for row in range(TILE):
        for column in range(lines.shape[-1]):
            total += lines[:, :, row, :, column]
            _stir(total)
    return total


def _patch_hashes(tiles: Tensor, side: int) -> Tensor:
    """(n, rows, columns) a number for what each patch shows, from that of its tiles (n, rows, columns)."""
    before = side - 2
    padded = pad(tiles, (before, 1, before, 1))
    height, across = tiles.shape[1:]
    total = torch.zeros(len(tiles), *places(height * TILE, across * TILE), dtype=torch.int64)
    for row in range(side):
        for column in range(side):
            total += padded[:, row : row + height : 2, column : column + across : 2]
            _stir(total)
    return total


def _stir(numbers: Tensor) -> None:
    """Every bit comes to depend on all before it; in place."""
    numbers *= _MIX
    numbers ^= numbers >> 29


def _tiles_of(cells: Tensor, chosen: Tensor, size: tuple[int, int], side: int) -> tuple[Tensor, Tensor]:
    """The tiles of patches, and which of them lie inside; patches by their number (m,) over images, rows, columns."""
    rows, columns = cells.shape[1], cells.shape[3]
    image, place = chosen // (size[0] * size[1]), chosen % (size[0] * size[1])
    around = torch.cartesian_prod(torch.arange(2 - side, 2), torch.arange(2 - side, 2))
    row = 2 * (place // size[1])[:, None] + around[:, 0]
    column = 2 * (place % size[1])[:, None] + around[:, 1]
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    tiles = cells[image[:, None], row.clamp(0, rows - 1), :, column.clamp(0, columns - 1)]
    return tiles.flatten(2), inside.unsqueeze(2)


def patch_features(
    seen: Tensor | DistinctPatches, first: tuple[Tensor, Tensor], second: nn.Conv2d, out: Sequence[int]
) -> Tensor:
    """(n, channels, rows, columns) from images (n, height, width, channels), or from their distinct patches.

    Two convolutions, each before a ReLU: `first` is the weight (middle, depth, 4, 4) and bias of one over tiles,
    `second` sees 3x3 or 2x2 of them, every second one. `out`: rows and columns.
    """
    weight, bias = first
    if isinstance(seen, Tensor):
        maps = conv2d(seen.permute(0, 3, 1, 2).to(weight.dtype), weight, bias, stride=TILE).relu()
        if second.kernel_size[0] < OVERLAPPING:  # the last patches may stick out, as overlapping ones do
            maps = pad(maps, (0, maps.shape[3] % 2, 0, maps.shape[2] % 2))
        result: Tensor = second(maps).relu()
        return result
    seen = seen.used()
    by_tile = linear(seen.tiles.to(weight.dtype), weight.permute(0, 2, 3, 1).flatten(1), bias).relu() * seen.inside
    table = linear(by_tile.flatten(1), second.weight.permute(0, 2, 3, 1).flatten(1), second.bias).relu()
    maps = table.index_select(0, seen.numbers.flatten()).view(len(seen.numbers), -1, len(second.weight))
    return maps.transpose(1, 2).view(len(maps), -1, *out)
