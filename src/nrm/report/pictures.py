"""Tiles of the environments as PNG images inside the page."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray


class Tiles:
    """The tiles that a page needs, each of them once."""

    def __init__(self) -> None:
        self.images: dict[str, int] = {}
        """Data URIs, numbered in their order."""

    def number(self, pixels: NDArray[np.uint8]) -> int:
        """The number of a picture among the images."""
        image = "data:image/png;base64," + base64.b64encode(png(pixels)).decode()
        return self.images.setdefault(image, len(self.images))


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture (height, width, 3) as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, width * 3)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
