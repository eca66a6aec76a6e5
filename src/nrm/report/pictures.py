"""Tiles of the worlds as PNG images inside the page."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from nrm.envs import MinecraftConfig
from nrm.envs.minecraft.sprites import has_picture, tile


class Tiles:
    """The tiles that a page needs, each of them once."""

    def __init__(self) -> None:
        self.images: list[str] = []
        """Data URIs."""
        self._place: dict[bytes, int] = {}

    def of(self, config: MinecraftConfig) -> list[list[int]]:
        """For nothing and each name of a world: the numbers of its tile without and with the agent."""
        others = [name for name in config.names if not has_picture(name)]
        return [
            [self._number(tile(name, others.index(name) if name in others else 0, agent)) for agent in (False, True)]
            for name in (None, *config.names)
        ]

    def _number(self, pixels: NDArray[np.uint8]) -> int:
        image = png(pixels)
        if image not in self._place:
            self._place[image] = len(self.images)
            self.images.append("data:image/png;base64," + base64.b64encode(image).decode())
        return self._place[image]


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture (height, width, 3) as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, width * 3)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
