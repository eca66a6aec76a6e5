"""The grid environment as a kind of environment for runs: `map`, `image` and `image-episode`."""

from __future__ import annotations

from typing import Any

import gymnasium

from nrm.envs.counter_rng import words
from nrm.envs.grids import ACTIONS
from nrm.envs.minecraft.config import MINECRAFT_SYMBOLS, MinecraftConfig
from nrm.envs.minecraft.env import BatchedMinecraft, MinecraftEnv
from nrm.envs.minecraft.grid import begin, letters_of_contents, settled
from nrm.envs.minecraft.sprites import tiles
from nrm.envs.registry import ENVS, Board, EnvKind, TaskSpace, WithoutMemory
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.errors import ConfigError, EnvError
from nrm.logic.ltlf.formula import atom
from nrm.machines import Alphabet, MooreMachine, Task, task_from_text

NAMED = {
    "map": MinecraftConfig(observation="map"),
    "image": MinecraftConfig(observation="image"),
    "image-episode": MinecraftConfig(observation="image", layout="episode"),
}
MAX_CELLS = 1024
"""Cells of an environment that is shown as a board."""


def _task(text: str | None, config: MinecraftConfig) -> Task:
    """A paper task over the environment's symbols, a task file, or a formula."""
    if text is None:
        raise ConfigError("no task is given; add one, such as --task 1 or --task 'F pickaxe & G !lava'")
    return task_from_text(text, _alphabet(config))


def _alphabet(config: MinecraftConfig) -> Alphabet:
    """The environment's symbols: the paper's, in their order, where there are no others."""
    names = [name for name in config.names if name not in MINECRAFT_SYMBOLS]
    empty = [] if config.empty is None else [config.empty]
    symbols = MINECRAFT_SYMBOLS if not names and config.empty == "empty" else (*config.names, *empty)
    return Alphabet.exclusive(symbols) if empty else Alphabet.propositional(symbols)


def _tasks(config: MinecraftConfig) -> TaskSpace:
    return TaskSpace(_alphabet(config), tuple(atom(name) for name in config.names))


def _algorithm(config: MinecraftConfig) -> str:
    """A2C is faster where images repeat, PPO learns to see where they do not."""
    return "ppo" if config.observation == "image" and config.layout == "episode" else "a2c"


def _render(config: MinecraftConfig, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
    return TaskEnv(MinecraftEnv(config, render_mode=mode), machine, end=end)


def _title(config: MinecraftConfig) -> str:
    return config.observation if config.layout == "fixed" else f"{config.observation}-{config.layout}"


def _board(config: MinecraftConfig, machine: MooreMachine, end: End, seed: int) -> Board:
    if config.cells > MAX_CELLS:
        raise EnvError(f"environments are drawn up to {MAX_CELLS:,} cells; this one has {config.cells:,}")
    still = config if config.layout == "fixed" else settled(config, seed)
    return Board(
        env=BatchedMinecraft(still, machine, 1, end),
        width=still.shape[0],
        height=still.shape[1],
        contents=begin(still, words([seed])).contents[0].tolist(),
        letters=letters_of_contents(still, machine.alphabet).tolist(),
        tiles=tiles(still.names),
        actions=ACTIONS,
        drawn=config.layout == "episode",
    )


def _without_memory(config: MinecraftConfig, machine: MooreMachine, end: End) -> WithoutMemory | None:
    from nrm.envs.minecraft.memoryless import without_memory

    return without_memory(config, machine, end)


MINECRAFT = ENVS.register(
    EnvKind(
        name="minecraft",
        names=tuple(NAMED),
        config=MinecraftConfig,
        parse=NAMED.get,
        task=_task,
        build=BatchedMinecraft,
        render=_render,
        title=_title,
        titled=("observation", "layout"),
        algorithm=_algorithm,
        tasks=_tasks,
        board=_board,
        without_memory=_without_memory,
    )
)
