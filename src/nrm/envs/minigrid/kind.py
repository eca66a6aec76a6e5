"""MiniGrid as a kind of environment for runs: `minigrid:ID`."""

from __future__ import annotations

from typing import Any

import gymnasium

from nrm.envs.minigrid.build import minigrid_batch, minigrid_env
from nrm.envs.minigrid.config import MiniGridConfig, check_minigrid_id
from nrm.envs.minigrid.tasks import minigrid_task
from nrm.envs.registry import ENVS, EnvKind
from nrm.envs.termination import End
from nrm.logic import read_formula
from nrm.machines import MooreMachine, Task, load_task, own_alphabet, task_from_text

PREFIX = "minigrid:"
"""What the names of these environments begin with: `minigrid:MiniGrid-LavaGapS5-v0`."""


def _parse(name: str) -> MiniGridConfig | None:
    if not name.startswith(PREFIX):
        return None
    config = MiniGridConfig(name.removeprefix(PREFIX))
    check_minigrid_id(config.id)
    return config


def _task(text: str | None, config: MiniGridConfig) -> Task:
    """A task file, or a formula: over what our labels name, or what the user's own label does."""
    if text is not None and text.endswith(".toml"):
        return load_task(text)
    if config.label is None or text is None:
        return minigrid_task(config.id, text)
    return task_from_text(text, config.alphabet or own_alphabet(read_formula(text).formula))


def _render(config: MiniGridConfig, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
    return minigrid_env(config, machine, mode, end)


MINIGRID = ENVS.register(
    EnvKind(
        name="minigrid",
        names=(f"{PREFIX}ID",),
        config=MiniGridConfig,
        parse=_parse,
        task=_task,
        build=minigrid_batch,
        render=_render,
        title=lambda config: f"{PREFIX}{config.id}" + ("" if config.view == "grid" else f"-{config.view}"),
        titled=("id", "view"),
        algorithm="ppo",
    )
)
