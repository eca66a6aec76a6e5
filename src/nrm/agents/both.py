"""Both: neither symbols nor task are told. The machine over observations is learned from rewards while acting."""

from __future__ import annotations

import torch

from nrm.agents.devices import device_of
from nrm.agents.inferring import check_one_task, judge_for
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.agents.world_grounders import grounder_on
from nrm.envs.world import BatchedWorld
from nrm.tracking import InferenceConfig, MachineLearning
from nrm.tracking.letters import MOST_LETTERS, LetterBook
from nrm.tracking.observed_letters import ListedLetters, SeenLetters


def _prepare(world: BatchedWorld, settings: InferenceConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    check_one_task(world, "both")
    letters: LetterBook
    if world.frames is not None and len(world.frames) <= MOST_LETTERS:
        letters = ListedLetters(world.frames)
    else:
        blank = torch.empty(0, *world.shape, dtype=world.dtype)
        letters = SeenLetters(None, blank, lambda count: grounder_on(world, "auto", count), world.frames, seed)
    inference = MachineLearning(letters, settings, judge_for(world, letters), device_of(world))
    return Prepared(inference.memory, inference=inference)


BOTH = METHODS.register(
    Method(
        name="both",
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
