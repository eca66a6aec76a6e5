"""NRM: the neural reward machine, which learns the symbols from rewards in between acting (the paper's method)."""

from __future__ import annotations

import torch

from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs.world import BatchedWorld
from nrm.neural import NeuralRewardMachine, ProbabilisticMoore
from nrm.neural.grounders import CnnGrounder, Grounder, MlpGrounder, PooledGrounder, grounder_for
from nrm.tracking import BeliefMemory, Grounding, GroundingConfig


def _prepare(world: BatchedWorld, settings: GroundingConfig, features: int, seed: int) -> Prepared:  # noqa: ARG001
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        grounder = _grounder(world, settings.grounder)
    model = NeuralRewardMachine(grounder, ProbabilisticMoore.from_machine(world.machine)).eval()
    memory = BeliefMemory(model, world.frames, settings.belief)
    learning = settings.fit_config(seed, listed=world.frames is not None)
    grounding = Grounding(model, memory, learning, every=settings.every, most=settings.keep, frames=world.frames)
    return Prepared(memory, grounding)


def _grounder(world: BatchedWorld, name: str) -> Grounder:
    symbols = world.machine.alphabet.size
    if name == "auto":
        # Images without end are images of ever new layouts: there only looks tell.
        endless = world.frames is None and len(world.shape) == 3
        return PooledGrounder(symbols, world.shape) if endless else grounder_for(world.shape, symbols)
    if len(world.shape) == 3:
        return CnnGrounder(symbols, world.shape)
    return MlpGrounder.paper(int(torch.Size(world.shape).numel()), symbols)


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
    )
)
