"""From what people write (a task, a world, a method, a preset, some settings) to the configuration of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from nrm.agents import METHODS, preset
from nrm.envs import MINECRAFT_SYMBOLS, PAPER_ITEMS, End, MinecraftConfig
from nrm.envs.minigrid import MINIGRID_PREFIX, MiniGridConfig, check_minigrid_id, minigrid_task
from nrm.errors import ConfigError, suggestion
from nrm.lab.config import WORLDS, RunConfig, run_config, with_settings
from nrm.lab.worlds import WorldConfig
from nrm.logic import is_paper_task, parse
from nrm.machines import Alphabet, Task, load_task

Layout = Literal["fixed", "seed", "episode"]


def choose_run(
    task: str | None,
    world: str = "map",
    method: str = "nrm",
    seed: int = 0,
    *,
    preset_name: str = "default",
    episodes: int | None = None,
    layout: Layout = "fixed",
    end: End = "outcome",
    settings: Mapping[str, str] | None = None,
) -> RunConfig:
    """The run that the words name: a task is a paper task, a formula over the world's symbols, or a task file.

    Without a task, it is the world's own, where there is a ready one.
    """
    if method not in METHODS:
        raise ConfigError(f"unknown method '{method}'{suggestion(method, METHODS)} (methods: {', '.join(METHODS)})")
    agent = with_settings(preset(preset_name), dict(settings or {}))
    if episodes is not None:
        agent = replace(agent, episodes=episodes)
    config = choose_world(world, layout)
    return run_config(choose_task(task, config), config, method, agent, seed, end)


def choose_task(text: str | None, world: WorldConfig) -> Task:
    """The task that the text names in a world, or the world's own."""
    if isinstance(world, MiniGridConfig):
        return load_task(text) if text is not None and text.endswith(".toml") else minigrid_task(world.id, text)
    if text is None:
        raise ConfigError("no task is given; add one, such as --task 1 or --task 'F pickaxe & G !lava'")
    return task_on_world(text, Alphabet.exclusive(MINECRAFT_SYMBOLS))


def choose_world(name: str, layout: Layout = "fixed") -> WorldConfig:
    """The world of that name."""
    if name.startswith(MINIGRID_PREFIX):
        if layout != "fixed":
            raise ConfigError(f"layout '{layout}' is for map and image; MiniGrid draws its own grids every episode")
        config = MiniGridConfig(name.removeprefix(MINIGRID_PREFIX))
        check_minigrid_id(config.id)
        return config
    if name not in WORLDS:
        known = (*WORLDS, f"{MINIGRID_PREFIX}ID")
        near = f"; did you mean '{MINIGRID_PREFIX}{name}'?" if name.startswith("MiniGrid-") else suggestion(name, known)
        raise ConfigError(f"unknown world '{name}'{near} (worlds: {', '.join(known)})")
    items = PAPER_ITEMS if layout == "fixed" else tuple(item for item, _ in PAPER_ITEMS)
    return MinecraftConfig(observation=name, layout=layout, items=items)


def task_on_world(text: str, alphabet: Alphabet) -> Task:
    """A paper task over a world's symbols, a task file, or a formula."""
    if text.endswith(".toml"):
        return load_task(text)
    if is_paper_task(text):
        return Task.from_paper(text, alphabet)
    return Task(parse(text), alphabet, name=text)
