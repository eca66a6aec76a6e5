"""Both: neither symbols nor task are told. The machine over observations is learned from rewards while acting."""

from __future__ import annotations

import torch

from nrm.agents.devices import device_of
from nrm.agents.env_grounders import grounder_on
from nrm.agents.inferring import check_one_task, judge_for
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.base import BatchedEnv
from nrm.tracking import MAX_LETTERS, InferenceConfig, ListedSymbols, MachineLearning, ObservedSymbols, SymbolIndex


def _prepare(env: BatchedEnv, settings: InferenceConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    check_one_task(env, "pure-learning")
    letters: SymbolIndex
    if env.frames is not None and len(env.frames) <= MAX_LETTERS:
        letters = ListedSymbols(env.frames)
    else:
        blank = torch.empty(0, *env.shape, dtype=env.dtype)
        letters = ObservedSymbols(None, blank, lambda count: grounder_on(env, "auto", count), env.frames, seed)
    inference = MachineLearning(letters, settings, judge_for(env, letters), device_of(env))
    return Prepared(inference.memory, inference=inference)


BOTH = METHODS.register(
    Method(
        name="pure-learning",
        label="learned symbols and machine",
        knows="is given neither; learns symbols and machine",
        prepare=_prepare,
        config=InferenceConfig,
        section="inference",
        colour="#e6a700",
        dark="#ffd24a",
        dash=(5, 1, 1, 1),
        marker="*",
        unknown="both",
    )
)
