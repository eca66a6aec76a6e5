"""Overlapping patches of images, and two convolutions that compute each distinct patch once: exact, also gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, linear, pad

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
