"""Any environment with a task, and N of them at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium

from nrm.aliases import Symbol
from nrm.envs.gym.config import GymConfig
from nrm.envs.gym.guard import GuardedEnv, guarded_label
from nrm.envs.gym.hearing import misspelt
from nrm.envs.gym.make import make_env
from nrm.envs.gym.rehearsal import rehearse
from nrm.envs.labels import Speaker, labelling
from nrm.envs.task_env import TaskEnv, own_task
from nrm.envs.termination import End
from nrm.envs.vector import GymVectorEnv
from nrm.errors import EnvError, UnknownSymbolError
from nrm.machines import Alphabet, MachineLike, MooreMachine, as_machine

AnyEnv = gymnasium.Env[Any, Any]
EMPTY = "empty"


def gym_env(
    batched: GymConfig | str, machine: MachineLike, end: End = "outcome", render_mode: str | None = None
) -> AnyEnv:
    """One environment with a task. One that has a task of its own (`TaskEnv`) is taken as it is: it must be this."""
    config = GymConfig(batched) if isinstance(batched, str) else batched
    known = as_machine(machine)
    env = make_env(config, render_mode)
    if (inner := own_task(env)) is not None:
        _check_own(config, inner, known, end)
        return GuardedEnv(env, config.source)
    guarded = GuardedEnv(env, config.source)
    label = labelling(config.label, guarded)
    spoken = guarded_label(label, Speaker.by_option(config.label), guarded)
    return TaskEnv(guarded, known, spoken, end=end, empty=_empty(config, known.alphabet))


def gym_batch(config: GymConfig, machine: MooreMachine, count: int, end: End = "outcome") -> GymVectorEnv:
    """N such environments side by side, once one of them has been seen to follow the rules."""
    make = partial(gym_env, config, machine, end)
    try:
        found = rehearse(make)
    except UnknownSymbolError:
        # Where nobody lists what can hold, it may be the task that misspells it.
        if problem := misspelt(config, machine.alphabet):
            raise UnknownSymbolError(problem) from None
        raise
    env = GymVectorEnv.of(make, count, config.processes)
    env.unrepeatable = found
    return env


def _empty(config: GymConfig, alphabet: Alphabet) -> Symbol | None:
    if config.empty is not None or not alphabet.is_exclusive:
        return config.empty
    return EMPTY if EMPTY in alphabet.symbols else None


def _check_own(config: GymConfig, inner: TaskEnv[Any, Any], machine: MooreMachine, end: End) -> None:
    """Raise unless an environment with a task of its own is asked for that task."""
    if inner.machine != machine:
        raise EnvError(
            f"{config.source} puts a task on its environment itself (a machine of {inner.machine.states} states); drop "
            "--task and --machine, or let it return the environment without its TaskEnv"
        )
    if inner.end != end:
        raise EnvError(
            f"{config.source} ends its task with end='{inner.end}', and the run with '{end}'; add --end {inner.end}"
        )
    if inner.pay != "differences":
        raise EnvError(f"{config.source} pays {inner.pay}; runs need a TaskEnv that pays differences of potentials")
    if config.label is not None:
        raise EnvError(f"{config.source} has a label of its own, that of its TaskEnv; drop --label {config.label}")
