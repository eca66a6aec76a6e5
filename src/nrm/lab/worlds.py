"""The kinds of worlds that a run can be in: how each is named, kept in a file, built and shown."""

from __future__ import annotations

from typing import Any, TypeAlias

import gymnasium

from nrm.aliases import Json
from nrm.envs import BatchedMinecraft, BatchedWorld, End, MinecraftConfig, MinecraftEnv, TaskEnv
from nrm.envs.minigrid import MINIGRID_PREFIX, MiniGridConfig, minigrid_env, minigrid_world
from nrm.errors import ConfigError, suggestion
from nrm.machines import MooreMachine

WorldConfig: TypeAlias = MinecraftConfig | MiniGridConfig
# Runs of the first world carry no kind in their files.
KINDS: dict[str, type[MinecraftConfig] | type[MiniGridConfig]] = {
    "minecraft": MinecraftConfig,
    "minigrid": MiniGridConfig,
}


def world_from_json(data: Json) -> WorldConfig:
    """The configuration of a world as `dataclasses.asdict` gave it."""
    kind = data.get("kind", "minecraft")
    if kind not in KINDS:
        raise ConfigError(f"unknown kind of world '{kind}'{suggestion(str(kind), KINDS)} (kinds: {', '.join(KINDS)})")
    return KINDS[kind](**_tuples(data))


def world_name(world: WorldConfig) -> str:
    """A short name, for tables and figures."""
    if isinstance(world, MiniGridConfig):
        return f"{MINIGRID_PREFIX}{world.id}"
    return world.observation if world.layout == "fixed" else f"{world.observation}-{world.layout}"


def build_world(world: WorldConfig, machine: MooreMachine, count: int, end: End = "outcome") -> BatchedWorld:
    """N environments with a task."""
    if isinstance(world, MiniGridConfig):
        return minigrid_world(world, machine, count, end)
    return BatchedMinecraft(world, machine, count, end)


def rendered_env(
    world: WorldConfig, machine: MooreMachine, render_mode: str, end: End = "outcome"
) -> gymnasium.Env[Any, Any]:
    """One environment with a task, to be looked at."""
    if isinstance(world, MiniGridConfig):
        return minigrid_env(world, machine, render_mode, end)
    return TaskEnv(MinecraftEnv(world, render_mode=render_mode), machine, end=end)


def _tuples(value: Any) -> Any:
    """JSON has lists where the configuration has tuples."""
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return value
