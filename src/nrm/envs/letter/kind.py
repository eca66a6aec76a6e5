"""LetterWorld as a kind of environment for runs: `letter` and `letter-image`."""

from __future__ import annotations

from typing import Any

import gymnasium

from nrm.envs.letter.config import LetterConfig
from nrm.envs.letter.env import BatchedLetters, LetterEnv
from nrm.envs.registry import ENVS, EnvKind, TaskSpace
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.errors import ConfigError
from nrm.logic.ltlf.formula import atom
from nrm.machines import MooreMachine, Task, task_from_text

NAMED = {"letter": LetterConfig(), "letter-image": LetterConfig(observation="image")}


def _task(text: str | None, config: LetterConfig) -> Task:
    """A task file, or a formula over the letters."""
    if text is None:
        raise ConfigError("no task is given; add one, such as --task 'F(a & F b) & G !c', or many: --tasks mixture")
    return task_from_text(text, config.alphabet)


def _render(config: LetterConfig, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
    modes = LetterEnv.metadata["render_modes"]
    return TaskEnv(LetterEnv(config, render_mode=mode if mode in modes else "rgb_array"), machine, end=end)


def _title(config: LetterConfig) -> str:
    return "letter" if config.observation == "planes" else "letter-image"


def _tasks(config: LetterConfig) -> TaskSpace:
    return TaskSpace(config.alphabet, tuple(atom(name) for name in config.names))


LETTER = ENVS.register(
    EnvKind(
        name="letter",
        names=tuple(NAMED),
        config=LetterConfig,
        parse=NAMED.get,
        task=_task,
        build=BatchedLetters,
        render=_render,
        title=_title,
        titled=("observation",),
        algorithm="ppo",
        tasks=_tasks,
    )
)
