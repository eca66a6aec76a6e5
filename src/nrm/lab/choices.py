"""From what people write (a task, a world, a method, a preset, some settings) to the configuration of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from nrm.agents import METHODS, preset
from nrm.envs import MINECRAFT_SYMBOLS, PAPER_ITEMS, MinecraftConfig
from nrm.errors import ConfigError, suggestion
from nrm.lab.config import WORLDS, RunConfig, run_config, with_settings
from nrm.logic import is_paper_task, parse
from nrm.machines import Alphabet, Task, load_task

Layout = Literal["fixed", "seed", "episode"]


def choose_run(
    task: str,
    world: str = "map",
    method: str = "nrm",
    seed: int = 0,
    *,
    preset_name: str = "default",
    episodes: int | None = None,
    layout: Layout = "fixed",
    settings: Mapping[str, str] | None = None,
) -> RunConfig:
    """The run that the words name: a task is a paper task, a formula over the world's symbols, or a task file."""
    if method not in METHODS:
        raise ConfigError(f"unknown method '{method}'{suggestion(method, METHODS)} (methods: {', '.join(METHODS)})")
    agent = with_settings(preset(preset_name), dict(settings or {}))
    if episodes is not None:
        agent = replace(agent, episodes=episodes)
    config = choose_world(world, layout)
    return run_config(task_on_world(task, Alphabet.exclusive(MINECRAFT_SYMBOLS)), config, method, agent, seed)


def choose_world(name: str, layout: Layout = "fixed") -> MinecraftConfig:
    """The world of that name."""
    if name not in WORLDS:
        raise ConfigError(f"unknown world '{name}'{suggestion(name, WORLDS)} (worlds: {', '.join(WORLDS)})")
    items = PAPER_ITEMS if layout == "fixed" else tuple(item for item, _ in PAPER_ITEMS)
    return MinecraftConfig(observation=name, layout=layout, items=items)


def task_on_world(text: str, alphabet: Alphabet) -> Task:
    """A paper task over a world's symbols, a task file, or a formula."""
    if text.endswith(".toml"):
        return load_task(text)
    if is_paper_task(text):
        return Task.from_paper(text, alphabet)
    return Task(parse(text), alphabet, name=text)
