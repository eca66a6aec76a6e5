from __future__ import annotations

import numpy as np
import pytest

from nrm.envs.minecraft.env import MinecraftConfig, begin
from nrm.envs.minecraft.images import EDGE, SIDE, Painter, scaled, tiles

OTHERS = ["key", "tree", "water", "wood", "iron", "gold", "silk", "coal", "rope", "bread"]


def painted_slowly(config: MinecraftConfig, contents: list[int], agent: int, pixels: int) -> np.ndarray:
    """The same picture, tile by tile."""
    width, height = config.shape
    side = pixels // max(width, height)
    canvas = np.empty((pixels, pixels, 3), dtype=np.uint8)
    canvas[:] = EDGE
    top, left = (pixels - height * side) // 2, (pixels - width * side) // 2
    for cell, content in enumerate(contents):
        y, x = divmod(cell, width)
        picture = scaled(tiles(config.names)[content][cell == agent], side)
        canvas[top + y * side : top + (y + 1) * side, left + x * side : left + (x + 1) * side] = picture
    return canvas


@pytest.mark.parametrize(("size", "pixels"), [(4, 64), (5, 64), ((7, 4), 64), (8, 96), (3, 50)])
def test_gathered_pictures_equal_those_painted_tile_by_tile(size: int | tuple[int, int], pixels: int) -> None:
    config = MinecraftConfig(size=size, layout="episode", items=["gem", "lava", "key", "tree"], start="random")
    drawn = begin(config, np.arange(6, dtype=np.uint64))
    pictures = Painter(config, pixels).paint(drawn.contents, drawn.start)
    for picture, contents, agent in zip(pictures, drawn.contents, drawn.start, strict=True):
        assert (picture == painted_slowly(config, contents.tolist(), int(agent), pixels)).all()


def test_painting_leaves_its_input_alone() -> None:
    config = MinecraftConfig()
    contents = begin(config, np.zeros(1, dtype=np.uint64)).contents
    before = contents.copy()
    Painter(config, 64).paint(contents, np.array([5]))
    assert (contents == before).all()


@pytest.mark.parametrize("side", [16, 12, 8, 5, 32])
def test_cells_look_different_with_and_without_the_agent(side: int) -> None:
    names = ["pickaxe", "gem", "door", "lava", *OTHERS]
    pictures = [scaled(tile, side).astype(int) for pair in tiles(names) for tile in pair]
    for index, one in enumerate(pictures):
        for other in pictures[:index]:
            assert np.abs(one - other).mean() > 3


@pytest.mark.parametrize("name", ["pickaxe", "gem", "door", "lava", "key"])
def test_most_of_an_item_stays_in_sight_under_the_agent(name: str) -> None:
    (ground, _), (free, covered) = tiles([name])
    item = (free != ground).any(axis=2)
    seen = item & (free == covered).all(axis=2)
    assert seen.sum() >= 0.6 * item.sum()
    assert (covered != free).any(axis=2).sum() >= 40


def test_scaling_keeps_the_mean_colour() -> None:
    _, (picture, _) = tiles(["gem"])
    assert (scaled(picture, SIDE) == picture).all()
    assert (scaled(picture, 2 * SIDE)[::2, 1::2] == picture).all()
    assert scaled(picture, 7).mean() == pytest.approx(picture.mean(), abs=0.5)
