"""Some of the observations that were lately seen, with their true letters: for evaluation alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MOST = 512
"""Observations that are kept."""


class LabelledRing:
    """The last observations of environments that take turns: of step t, that of environment t modulo N."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        self._observations = torch.empty(0, *shape, dtype=dtype)
        self._letters = torch.empty(0, dtype=torch.int64)
        self._next = 0

    def add(self, observations: Tensor, letters: NDArray[np.int64]) -> None:
        """Take in a step: observations (N, *shape) before any reset, and the letters (N,) that were read there."""
        turn = self._next % len(letters)
        observation, letter = observations[turn : turn + 1], torch.from_numpy(letters[turn : turn + 1].copy())
        if len(self._letters) < MOST:
            self._observations = torch.cat([self._observations, observation])
            self._letters = torch.cat([self._letters, letter])
        else:
            self._observations[self._next % MOST] = observation[0]
            self._letters[self._next % MOST] = letter[0]
        self._next += 1

    def rows(self) -> tuple[Tensor, Tensor] | None:
        """(n, *shape) and (n,); None before any step."""
        return (self._observations, self._letters) if len(self._letters) else None

    def state_dict(self) -> dict[str, Any]:
        """What there is."""
        return {"observations": self._observations.clone(), "letters": self._letters.clone(), "next": self._next}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with what there was."""
        self._observations, self._letters = state["observations"].clone(), state["letters"].clone()
        self._next = state["next"]
