"""RM: the reward machine, whose true state is told."""

from __future__ import annotations

from typing import Any

from nrm.agents.devices import device_of
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.base import BatchedEnv, tasks_of
from nrm.tracking import MachineMemory, TaskStateMemory


def _prepare(env: BatchedEnv, settings: Any, features: int, seed: int) -> Prepared:  # noqa: ARG001
    tasks = tasks_of(env)
    device = device_of(env)
    return Prepared(MachineMemory(env.machine, device) if tasks is None else TaskStateMemory(tasks, device))


RM = METHODS.register(
    Method(
        name="rm",
        label="RM",
        knows="is given the task and the true symbols",
        prepare=_prepare,
        colour="#0072b2",
        dark="#4fb0ec",
        dash=(),
        marker="o",
        tracks_states=True,
    )
)
