"""Methods that follow the task's machine: by its true state (RM), or by a belief that a grounder gives (NRM)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs import BatchedEnv, tasks_of
from nrm.errors import ConfigError
from nrm.neural import GROUNDERS, NeuralRewardMachine, grounder_for
from nrm.tracking import Grounding, GroundingConfig, StateMemory, belief_memory


def _prepare_rm(env: BatchedEnv, settings: Any, features: int, seed: int) -> Prepared:  # noqa: ARG001
    return Prepared(StateMemory(env.tasks, env.device, one_hot=len(env.tasks) == 1))


RM = METHODS.register(
    Method(
        name="rm",
        label="RM",
        knows="is given the task and the true symbols",
        prepare=_prepare_rm,
        colour="#0072b2",
        dark="#4fb0ec",
        dash=(),
        marker="o",
        tracks_states=True,
    )
)


def grounder_on(env: BatchedEnv, name: str, symbols: int, independent: bool = False) -> nn.Module:
    """A fresh grounder of so many symbols, by its registered name. `independent`: each has a probability of its own."""
    spec = env.spec
    parts = spec.entries
    if parts is not None:
        kind = GROUNDERS["parts" if name == "auto" else name]
        if not hasattr(kind, "from_parts"):
            raise ConfigError(f"the grounder '{name}' reads one array, but observations are a Dict: {parts}; use parts")
        together: nn.Module = kind.from_parts(parts, symbols, independent)
        return together
    if name == "auto":  # images that cannot be enumerated are of ever new layouts
        return grounder_for(
            env.shape,
            symbols,
            independent,
            continuous=spec.table is None,
            one_place=spec.local,
            many=tasks_of(env) is not None,
            cells=spec.tiled,
        )
    made: nn.Module = GROUNDERS[name].from_shape(env.shape, symbols, independent)
    return made


def _prepare(env: BatchedEnv, settings: GroundingConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        tasks = tasks_of(env)
        make = partial(grounder_on, env, settings.grounder)
        model = NeuralRewardMachine.made(env.machine if tasks is None else tasks, make).eval()
    if tasks is not None and model.recurrent:
        raise ConfigError(
            f"grounding.grounder: '{settings.grounder}' is recurrent and follows one task; with many tasks (--tasks) "
            "use another grounder, or auto"
        )
    model.to(env.device)
    memory = belief_memory(model, env.frames, settings.first_belief)
    fit = settings.fit_config(seed, listed=env.frames is not None)
    blank = torch.empty(0, *env.shape, dtype=env.dtype)
    return Prepared(memory, Grounding(model, memory, settings, fit, env.frames, blank))


def _prepare_frozen(env: BatchedEnv, settings: GroundingConfig, features: int, seed: int) -> Prepared:
    return _prepare(env, replace(settings, learn=False), features, seed)


NRM = METHODS.register(
    Method(
        name="nrm",
        label="NRM",
        knows="is given the task; learns the symbols",
        prepare=_prepare,
        config=GroundingConfig,
        section="grounding",
        colour="#d55e00",
        dark="#ff8a3c",
        dash=(4, 1.5),
        marker="s",
        tracks_states=True,
        grounds=True,
        unknown="grounding",
    )
)
FROZEN = METHODS.register(
    replace(
        NRM,
        name="frozen",
        label="frozen random grounder",
        knows="is given the task; its symbols are random and stay so",
        prepare=_prepare_frozen,
        colour="#8c6d46",
        dark="#c9a66b",
        dash=(2, 1),
        marker="d",
        unknown="",
    )
)
