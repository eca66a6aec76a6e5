"""What holds in MuJoCo's Reacher: where the tip of the arm is.

The arm reaches 0.21 from the middle and begins in the east. `nrm sweep benchmarks/sweeps/reacher.toml` trains on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

REGIONS = {"north": (0.0, 0.14), "south": (0.0, -0.14), "west": (-0.14, 0.0)}
"""Middles of discs, in metres."""
RADIUS = 0.06


def region(observation: Any, _info: Any, _env: Any) -> str:
    """The disc that the tip is in, or `elsewhere`. Observations hold the target and the way from there to the tip."""
    tip = np.asarray(observation[8:10]) + np.asarray(observation[4:6])
    for name, middle in REGIONS.items():
        if np.hypot(*(tip - middle)) < RADIUS:
            return name
    return "elsewhere"
