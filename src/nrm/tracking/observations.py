"""Observations kept once: long episodes in small worlds show the same images again and again."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray


class DistinctObservations:
    """The distinct ones among many observations, by number."""

    def __init__(self, rows: Iterable[NDArray[Any]] = ()) -> None:
        self._rows: list[NDArray[Any]] = []
        self._numbers: dict[bytes, int] = {}
        for row in rows:
            self._number(np.ascontiguousarray(row))

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        """(time,) the numbers of observations (time, …), known or new."""
        return np.array([self._number(row) for row in np.ascontiguousarray(observations)], dtype=np.int64)

    def __getitem__(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """(time, …) the observations with these numbers."""
        return np.stack([self._rows[number] for number in numbers.tolist()])

    def forget(self, used: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """Keep only what these numbers use; the same observations by their new numbers."""
        kept = np.unique(np.concatenate(used)) if used else np.zeros(0, dtype=np.int64)
        fresh = DistinctObservations(self._rows[number] for number in kept.tolist())
        self._rows, self._numbers = fresh._rows, fresh._numbers
        return [np.searchsorted(kept, numbers) for numbers in used]

    def _number(self, row: NDArray[Any]) -> int:
        # A digest and not the bytes themselves, which would keep every observation twice.
        key = blake2b(row.tobytes(), digest_size=16).digest()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._rows)
            self._rows.append(row.copy())
        return number
