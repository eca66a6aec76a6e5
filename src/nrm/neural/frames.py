"""Observations kept once: long episodes in small environments show the same ones again and again."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from nrm.errors import EpisodeError


class FrameTable:
    """Distinct observations by number, in the order of their first occurrence."""

    def __init__(self, rows: ArrayLike | None = None) -> None:
        """`rows`: (n, …) the first observations, if there are any yet."""
        self._rows: NDArray[Any] = np.zeros(0)
        # A digest and not the bytes themselves, which would keep every observation twice.
        self._numbers: dict[bytes, int] = {}
        if rows is not None:
            self.add(rows)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, numbers: Any) -> NDArray[Any]:
        """(time, …) the observations with these numbers (time,); `table[:]` is all of them."""
        rows: NDArray[Any] = self._rows[: len(self)][numbers]
        return rows

    def add(self, rows: ArrayLike, place: str = "observations") -> NDArray[np.int64]:
        """(time,) the numbers of observations (time, …), known or new. Errors name the `place`; then none is added."""
        given = np.ascontiguousarray(rows)
        self._check_kind(given, place)
        digests = _digests(given)
        first: dict[bytes, int] = {}
        for row, digest in enumerate(digests):
            if digest not in self._numbers:
                first.setdefault(digest, row)
        if first:
            self._append(given, list(first.values()), place)
        for digest in first:
            self._numbers[digest] = len(self)
        return np.array([self._numbers[digest] for digest in digests], dtype=np.int64)

    def numbers(self, rows: Tensor) -> Tensor:
        """(time,) the same as `add`, of tensors on any device."""
        return torch.from_numpy(self.add(rows.cpu().numpy())).to(rows.device)

    def find(self, rows: ArrayLike, missing: int = -1) -> NDArray[np.int64]:
        """(time,) the numbers of observations (time, …), `missing` where one is not in the table. None is added."""
        given = np.ascontiguousarray(rows)
        return np.array([self._numbers.get(digest, missing) for digest in _digests(given)], dtype=np.int64)

    def compact(self, used: ArrayLike) -> NDArray[np.int64]:
        """Forget all observations but those with the numbers `used`; where each number has moved, -1 if forgotten."""
        kept = np.unique(np.asarray(used, dtype=np.int64))
        moved = np.full(len(self), -1, dtype=np.int64)
        moved[kept] = np.arange(len(kept))
        self._rows = self[kept]
        self._numbers = {key: int(moved[old]) for key, old in self._numbers.items() if moved[old] >= 0}
        return moved

    def _check_kind(self, rows: NDArray[Any], place: str) -> None:
        if rows.dtype.kind not in "biuf":
            raise EpisodeError(f"{place}: observations must hold numbers, not {rows.dtype}")
        if self._numbers and (rows.shape[1:] != self._rows.shape[1:] or rows.dtype != self._rows.dtype):
            raise EpisodeError(
                f"{place}: observations are {rows.dtype} of shape {rows.shape[1:]}, those before are "
                f"{self._rows.dtype} of shape {self._rows.shape[1:]}"
            )

    def _append(self, given: NDArray[Any], which: list[int], place: str) -> None:
        """Keep some of the rows given. Only these are looked at: what is known was finite when it came."""
        fresh = given[which]
        if fresh.dtype.kind == "f" and not np.isfinite(fresh).all():
            row = which[int(np.argwhere(~np.isfinite(fresh))[0][0])]
            raise EpisodeError(f"{place}, row {row} (counting from 0): the observation holds NaN or infinity")
        known, needed = len(self), len(self) + len(fresh)
        if needed > len(self._rows):
            grown = np.empty((max(needed, 2 * known), *fresh.shape[1:]), dtype=fresh.dtype)
            if known:
                grown[:known] = self[:]
            self._rows = grown
        self._rows[known:needed] = fresh


def _digests(rows: NDArray[Any]) -> list[bytes]:
    """What tells observations (time, …) apart."""
    flat = rows.reshape(-1).view(np.uint8).reshape(len(rows), rows.itemsize * math.prod(rows.shape[1:]))
    return [blake2b(row.data, digest_size=16).digest() for row in flat]
