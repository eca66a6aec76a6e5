"""Any environment as a kind of environment for runs: `gym:ID`, and `module:name` of what makes one."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium

from nrm.envs.gym.build import gym_batch, gym_env
from nrm.envs.gym.config import PREFIX, GymConfig
from nrm.envs.gym.make import check_id, make_env
from nrm.envs.registry import ENVS, EnvKind, Spaces
from nrm.envs.task_env import own_task
from nrm.envs.termination import End
from nrm.errors import ConfigError
from nrm.logic import is_paper_task, read_formula
from nrm.machines import Alphabet, MooreMachine, Task, alphabet_of, load_task, own_alphabet, task_from_text


def _parse(name: str) -> GymConfig | None:
    if not name.startswith(PREFIX):
        return None
    config = GymConfig(name)
    assert config.id is not None
    check_id(config.id)
    return config


def _task(text: str | None, config: GymConfig) -> Task:
    """A task over what can hold: as the configuration says it, the environment, the task file, or the formula."""
    if text is None:
        env = make_env(config)
        inner = own_task(env)
        env.close()
        if inner is None:
            raise ConfigError(
                f"no task is given, and {config.source} has none of its own; add one, such as --task 'F goal & G !lava'"
            )
        return Task.from_machine(inner.machine, f"the task of {config.source}")
    if text.endswith(".toml"):
        task = load_task(text)
        if config.alphabet not in (None, task.alphabet):
            raise ConfigError(f"{text} names its own symbols; drop --symbols and --propositions")
        return task
    alphabet = config.alphabet or _said_by_environment(config)
    if alphabet is None:
        if is_paper_task(text):
            raise ConfigError(
                f"'{text}' is a task of the paper, over a, b, c, …; say with --symbols what these are in "
                f"{config.source}"
            )
        alphabet = own_alphabet(read_formula(text).formula)
    return task_from_text(text, alphabet)


def _said_by_environment(config: GymConfig) -> Alphabet | None:
    """What an environment says can hold: its attribute `symbols` (one at a time) or `propositions` (any)."""
    env = make_env(config)
    try:
        said = {name: env.get_wrapper_attr(name) for name in ("symbols", "propositions") if env.has_wrapper_attr(name)}
    finally:
        env.close()
    return alphabet_of(**said) if len(said) == 1 else None


def _spaces(config: GymConfig) -> Spaces:
    """What an environment that is made for this alone says of itself."""
    with warnings.catch_warnings():  # it is made again for training, and says them then
        warnings.simplefilter("ignore")
        env = make_env(config)
    found = Spaces(env.observation_space, env.action_space)
    env.close()
    return found


def _render(config: GymConfig, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
    """In the mode that is asked for; else as pixels, where it can draw; else without pictures."""
    plain = make_env(config)
    known = plain.metadata.get("render_modes", ())
    plain.close()
    chosen = next((one for one in (mode, "rgb_array") if one in known), None)
    return gym_env(config, machine, end, chosen)


GYM = ENVS.register(
    EnvKind(
        name="gym",
        names=(f"{PREFIX}ID",),
        config=GymConfig,
        parse=_parse,
        task=_task,
        build=gym_batch,
        render=_render,
        title=lambda config: config.source,
        titled=("source",),
        spaces=_spaces,
    )
)
