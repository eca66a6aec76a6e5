"""Devices: environments stay on the processor; networks, memories and what learns may be on another device."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from nrm.envs import BatchedEnv, StepBatch, Truth
from nrm.errors import ConfigError

CPU = torch.device("cpu")


def find_device(name: str) -> torch.device:
    """The device of a name: cpu, cuda, cuda:1, or auto, which is a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise ConfigError(f"the device is cpu, cuda, cuda:NUMBER or auto, not '{name}'")
    there = torch.cuda.device_count() if kind == "cuda" else 1
    if int(number or 0) >= there:
        raise ConfigError(f"there is no device '{name}' here; use --device {'auto' if there else 'cpu'}")
    return torch.device(name)


class PlacedEnv:
    """An env as a learner on another device sees it: what it shows is moved there, and actions are moved back."""

    def __init__(self, env: BatchedEnv, device: torch.device) -> None:
        self._env = env
        self.device = device
        self.spec = env.spec.to(device)
        self.frames = self.spec.table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def reset(self, seed: int) -> Tensor:
        return self._env.reset(seed).to(self.device)

    def step(self, actions: Tensor) -> StepBatch:
        return StepBatch(*(shown.to(self.device) for shown in self._env.step(actions.cpu())))

    @property
    def truth(self) -> Truth:
        return Truth(*(part.to(self.device) for part in self._env.truth))

    @property
    def task(self) -> Tensor:
        return self._env.task.to(self.device)


def placed(env: BatchedEnv, device: torch.device) -> BatchedEnv:
    """An environment for a learner on a device: itself where both are on the processor."""
    return env if device == CPU else cast(BatchedEnv, PlacedEnv(env, device))
