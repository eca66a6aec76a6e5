"""NRM: the neural reward machine, which learns the symbols from rewards in between acting (the paper's method)."""

from __future__ import annotations

import torch

from nrm.agents.devices import device_of
from nrm.agents.env_grounders import grounder_on
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.base import BatchedEnv, tasks_of
from nrm.errors import ConfigError
from nrm.neural import NeuralRewardMachine, RecurrentGrounder, emission_for, said_symbols
from nrm.tracking import BeliefMemory, Grounding, GroundingConfig, TaskBeliefMemory


def _prepare(env: BatchedEnv, settings: GroundingConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        alphabet = env.machine.alphabet
        emission = emission_for(alphabet)
        symbols = said_symbols(alphabet, emission)
        grounder = grounder_on(env, settings.grounder, symbols, emission == "independent")
    tasks = tasks_of(env)
    if tasks is not None and isinstance(grounder, RecurrentGrounder):
        raise ConfigError(
            f"grounding.grounder: '{settings.grounder}' is recurrent and follows one task; with many tasks (--tasks) "
            "use another grounder, or auto"
        )
    model = NeuralRewardMachine(grounder, env.machine if tasks is None else tasks, emission).eval()
    model.to(device_of(env))
    remembers = BeliefMemory if tasks is None else TaskBeliefMemory
    memory = remembers(model, env.frames, settings.belief)
    grounding = Grounding(
        model,
        memory,
        settings.fit_config(seed, listed=env.frames is not None, recurrent=model.recurrence is not None),
        every=settings.every,
        most=settings.keep,
        frames=env.frames,
        blank=torch.empty(0, *env.shape, dtype=env.dtype),
        longest=settings.longest,
        steady=settings.steady,
        spacing=settings.spacing,
    )
    grounding.learns = settings.learn
    return Prepared(memory, grounding)


def _prepare_frozen(env: BatchedEnv, settings: GroundingConfig, features: int, seed: int) -> Prepared:
    prepared = _prepare(env, settings, features, seed)
    assert prepared.grounding is not None
    prepared.grounding.learns = False
    return prepared


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
    Method(
        name="frozen",
        label="frozen random grounder",
        knows="is given the task; its symbols are random and stay so",
        prepare=_prepare_frozen,
        config=GroundingConfig,
        section="grounding",
        colour="#8c6d46",
        dark="#c9a66b",
        dash=(2, 1),
        marker="d",
        tracks_states=True,
        grounds=True,
    )
)
