"""References: no memory at all, and the return so far. What these earn, a method must not be praised for."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nrm.agents.devices import device_of
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs import BatchedEnv
from nrm.tracking import Memory, Transition


class NoMemory(Memory):
    """The same number at every step."""

    def __init__(self, device: torch.device) -> None:
        self.size = 1
        self.table: Tensor = torch.ones(1, 1, device=device)

    def start(self, count: int) -> Tensor:
        """(envs,) the only row there is."""
        return torch.zeros(count, dtype=torch.int64, device=self.table.device)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:  # noqa: ARG002 - nothing is remembered
        """As before."""
        return carry

    def feature(self, carry: Tensor) -> Tensor:
        """(…, 1) ones."""
        return self.table[carry]


def _prepare_memoryless(env: BatchedEnv, settings: Any, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return Prepared(NoMemory(device_of(env)))


NONE = METHODS.register(
    Method(
        name="memoryless",
        label="no memory",
        knows="is given neither, and remembers nothing",
        prepare=_prepare_memoryless,
        colour="#7f7f7f",
        dark="#a8a8a8",
        dash=(1, 2),
        marker="x",
    )
)


class ReturnMemory(Memory):
    """The sum of the rewards so far, in units of the best: what it earns with it, rewards alone tell of the state."""

    size = 1

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def start(self, count: int) -> Tensor:
        """(envs, 1) nothing was paid."""
        return torch.zeros(count, 1, device=self._device)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """What was paid is added."""
        return carry + seen.reward[:, None].to(carry.dtype) / 100

    def feature(self, carry: Tensor) -> Tensor:
        """(…, 1) the sum."""
        return carry


def _prepare_return(env: BatchedEnv, settings: Any, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return Prepared(ReturnMemory(device_of(env)))


RETURN = METHODS.register(
    Method(
        name="return",
        label="return so far",
        knows="is given neither, and sees the sum of its rewards",
        prepare=_prepare_return,
        colour="#56b4e9",
        dark="#8fd0f5",
        dash=(3, 1, 1, 1),
        marker="v",
    )
)
