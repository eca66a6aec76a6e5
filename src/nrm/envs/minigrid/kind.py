"""MiniGrid as a kind of world for runs: `minigrid:ID`."""

from __future__ import annotations

from typing import Any

import gymnasium

from nrm.envs.minigrid.build import minigrid_env, minigrid_world
from nrm.envs.minigrid.config import MiniGridConfig, check_minigrid_id
from nrm.envs.minigrid.tasks import minigrid_task
from nrm.envs.termination import End
from nrm.envs.worlds import WORLDS, WorldKind
from nrm.machines import MooreMachine, Task, load_task

PREFIX = "minigrid:"
"""What the names of these worlds begin with: `minigrid:MiniGrid-LavaGapS5-v0`."""


def _parse(name: str) -> MiniGridConfig | None:
    if not name.startswith(PREFIX):
        return None
    config = MiniGridConfig(name.removeprefix(PREFIX))
    check_minigrid_id(config.id)
    return config


def _task(text: str | None, config: MiniGridConfig) -> Task:
    return load_task(text) if text is not None and text.endswith(".toml") else minigrid_task(config.id, text)


def _render(config: MiniGridConfig, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
    return minigrid_env(config, machine, mode, end)


MINIGRID = WORLDS.register(
    WorldKind(
        name="minigrid",
        names=(f"{PREFIX}ID",),
        config=MiniGridConfig,
        parse=_parse,
        task=_task,
        build=minigrid_world,
        render=_render,
        title=lambda config: f"{PREFIX}{config.id}",
        titled=("id",),
    )
)
