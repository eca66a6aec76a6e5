"""Distinct patches give what convolutions over whole images give, gradients included."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from nrm.neural.layers import WORTH, DistinctPatches, distinct_patches, patch_features, places


def tiled(height: int, across: int, depth: int = 3, count: int = 6) -> Tensor:
    """Images of cells of 8x8 pixels, each one of three patterns; edges that are no whole cell are cut off."""
    generator = torch.Generator().manual_seed(height * 100 + across)
    patterns = torch.randint(256, (3, 8, 8, depth), dtype=torch.uint8, generator=generator)
    rows, columns = -(-height // 8), -(-across // 8)
    chosen = patterns[torch.randint(3, (count, rows, columns), generator=generator)]
    return chosen.permute(0, 1, 3, 2, 4, 5).reshape(count, rows * 8, columns * 8, depth)[:, :height, :across]


def brute_force(images: Tensor, side: int = 3) -> tuple[int, Tensor]:
    """How many distinct patches there are, and the number of each by first occurrence, from their pixels."""
    rows, columns = images.shape[1] // 4, images.shape[2] // 4
    seen: dict[tuple[object, ...], int] = {}
    numbers = []
    for image in images:
        for row in range(2 - side, rows + 2 - side, 2):
            for column in range(2 - side, columns + 2 - side, 2):
                shown: list[object] = []
                for y in range(row, row + side):
                    for x in range(column, column + side):
                        inside = 0 <= y < rows and 0 <= x < columns
                        tile = image[4 * y : 4 * y + 4, 4 * x : 4 * x + 4] if inside else None
                        shown.append(None if tile is None else bytes(tile.flatten().tolist()))
                numbers.append(seen.setdefault(tuple(shown), len(seen)))
    return len(seen), torch.tensor(numbers).view(len(images), -1)


@pytest.mark.parametrize(("height", "across"), [(32, 32), (64, 32), (30, 41), (20, 28)])
@pytest.mark.parametrize("side", [2, 3])
def test_patches_are_told_apart_as_by_their_pixels(height: int, across: int, side: int) -> None:
    images = tiled(height, across, count=120)
    found = distinct_patches(images, side)
    assert found is not None
    count, numbers = brute_force(images, side)
    assert len(found.tiles) == count
    same = found.numbers.flatten()[:, None] == found.numbers.flatten()
    assert torch.equal(same, numbers.flatten()[:, None] == numbers.flatten())


@pytest.mark.parametrize(("height", "across", "depth"), [(32, 32, 3), (64, 48, 3), (30, 41, 1), (20, 28, 4)])
@pytest.mark.parametrize("side", [2, 3])
def test_distinct_patches_give_what_convolutions_give(height: int, across: int, depth: int, side: int) -> None:
    torch.manual_seed(0)
    images = tiled(height, across, depth, count=120)
    first, second = nn.Conv2d(depth, 5, 4, stride=4), nn.Conv2d(5, 7, side, stride=2, padding=side - 2)
    found = distinct_patches(images, side)
    assert found is not None
    chosen = torch.tensor([3, 0, 3, 39])

    def run(seen: Tensor | DistinctPatches) -> list[Tensor]:
        bias = first.bias
        assert bias is not None
        features = patch_features(seen, (first.weight / 100, bias), second, places(height, across))
        assert features.shape == (4, 7, *places(height, across))
        parameters = [*first.parameters(), *second.parameters()]
        return [features, *torch.autograd.grad((features**2).sum(), parameters)]

    for got, expected in zip(run(found.at(chosen)), run(images[chosen]), strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


def test_images_that_repeat_nothing_stay_as_they_are() -> None:
    noise = torch.randint(256, (4, 32, 32, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    assert distinct_patches(noise) is None
    assert distinct_patches(noise[:1].repeat(int(1 / WORTH), 1, 1, 1)) is not None
    assert distinct_patches(noise.float()) is None
    assert distinct_patches(noise[:0]) is None
    assert distinct_patches(noise[:, :3]) is None


def test_one_pixel_makes_another_patch() -> None:
    images = torch.zeros(64, 16, 16, 3, dtype=torch.uint8)
    images[1, 1, 2, 2] = 1
    images[2, 1, 2, 1] = 1
    found = distinct_patches(images)
    assert found is not None
    plain, changed, other = found.numbers[0], found.numbers[1], found.numbers[2]
    assert (plain != changed).tolist() == [True, False, False, False]  # the first tile is in one patch alone
    assert changed[0] != other[0]
