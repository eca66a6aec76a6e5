"""What slips of chance explain, and what they do not."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SURE = 1e-4
"""Counts that chance reaches with less than this probability count as evidence."""


def improbable(
    found: NDArray[np.number], tries: NDArray[np.number], chance: float | NDArray[np.float64], sure: float = SURE
) -> NDArray[np.bool_]:
    """(…) whether so many (…) out of so many tries (…) are more than slips of a chance, or of chances (…), explain.

    An upper bound of the binomial tail (Chernoff's): exact at chance 0, where a single one is evidence.
    """
    if not np.any(chance):
        return found > 0
    share = found / np.maximum(tries, 1)
    above = share > chance
    inside = np.clip(share, chance, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(inside < 1, (1 - inside) * np.log((1 - inside) / (1 - chance)), 0.0)
        divergence = inside * np.log(inside / chance) + rest
    result: NDArray[np.bool_] = above & (tries * divergence > -math.log(sure))
    return result


def surprising(found: float, tries: int, chance: float, sure: float = SURE) -> bool:
    """The same for single numbers."""
    share = found / tries
    if share <= chance:
        return False
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return tries * (share * math.log(share / chance) + rest) > -math.log(sure)
