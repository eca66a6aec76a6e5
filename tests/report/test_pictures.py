"""Pictures inside the page are PNG files."""

from __future__ import annotations

import numpy as np
import pytest

from nrm.report.drawing import png


def test_pictures_read_back() -> None:
    image_module = pytest.importorskip("PIL.Image")
    import io

    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert (np.asarray(image_module.open(io.BytesIO(png(pixels)))) == pixels).all()
