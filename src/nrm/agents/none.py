"""None: no memory at all. What it earns, a task pays to those who only see."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.world import BatchedWorld
from nrm.tracking import Seen


class NoMemory:
    """The same number at every step."""

    sees_truth = False
    learns = False

    def __init__(self) -> None:
        self.size = 1
        self.table: Tensor | None = torch.ones(1, 1)

    def start(self, count: int) -> Tensor:
        """(envs,) the only row there is."""
        return torch.zeros(count, dtype=torch.int64)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:  # noqa: ARG002 - nothing is remembered
        """As before."""
        return carry

    def feature(self, carry: Tensor) -> Tensor:
        """(…, 1) ones."""
        assert self.table is not None
        return self.table[carry]

    def on(self, frames: Tensor | None) -> NoMemory:  # noqa: ARG002 - it looks at no observation
        """Itself."""
        return self


def _prepare(world: BatchedWorld, settings: Any, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return Prepared(NoMemory())


NONE = METHODS.register(
    Method(
        name="none",
        label="no memory",
        knows="is given neither, and remembers nothing",
        prepare=_prepare,
        colour="#7f7f7f",
        dark="#a8a8a8",
        dash=(1, 2),
        marker="x",
    )
)
