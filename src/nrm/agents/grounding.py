"""Learning the grounding between windows of acting (paper, "Exploiting NRMs for non-Markovian RL")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.agents.config import AgentConfig
from nrm.agents.episodes import Finished
from nrm.agents.memories import BeliefMemory
from nrm.envs import BatchedWorld
from nrm.neural import EpisodeBuffer, FitRecord, NeuralRewardMachine, fit, grounder_for
from nrm.neural.grounders import CnnGrounder, Grounder, MlpGrounder, PooledGrounder
from nrm.neural.objectives import sequence

Recorded: TypeAlias = tuple[NDArray[Any], NDArray[np.float64]]
"""The observations (or their row numbers) and the rewards of an episode."""


def new_grounder(world: BatchedWorld, config: AgentConfig) -> Grounder:
    """A grounder for a world's observations: ours, or the one of the paper's appendix."""
    symbols = world.machine.alphabet.size
    if config.grounder == "default":
        # Images without end are images of ever new layouts: there only looks tell.
        endless = world.frames is None and len(world.shape) == 3
        return PooledGrounder(symbols, world.shape) if endless else grounder_for(world.shape, symbols)
    if len(world.shape) == 3:
        return CnnGrounder(symbols, world.shape)
    return MlpGrounder.paper(int(np.prod(world.shape)), symbols)


class Grounding:
    """The episodes that the grounder learns from, and when it does."""

    def __init__(
        self, world: BatchedWorld, model: NeuralRewardMachine, memory: BeliefMemory, config: AgentConfig, seed: int
    ) -> None:
        self._world = world
        self._model = model
        self._memory = memory
        self._config = config
        self._seed = seed
        self._kept: list[Recorded] = []
        self._fresh: list[Recorded] = []
        self.bursts = 0
        """How many bursts have learned something."""

    def add(self, episodes: Sequence[Finished]) -> FitRecord | None:
        """Take in finished episodes; when enough are new, learn. The record of learning, if there was any."""
        for episode in episodes:
            assert episode.observations is not None
            assert episode.rewards is not None
            self._fresh.append((episode.observations, episode.rewards))
        if len(self._fresh) < self._config.grounding_every:
            return None
        fresh, self._fresh = self._fresh, []
        settings = self._config.fit_config(self._seed + 1000 * self.bursts, self._world.frames is not None)
        if self.loss(self._buffer(fresh)) <= settings.target:
            return None  # nothing to learn: the grounder explains episodes that it has never seen
        self.bursts += 1
        self._kept = self._most_telling([*self._kept, *fresh])
        record = fit(self._model, self._buffer(self._kept), "grounding", settings)
        self._memory.refresh()
        return record

    def _most_telling(self, episodes: list[Recorded]) -> list[Recorded]:
        """The episodes that are kept: a good policy does the same again and again, so rare rewards go first.

        Episodes of bursts with nothing to learn never get here, so what taught something once is not washed out.
        """
        surplus = len(episodes) - self._config.grounding_memory
        if surplus <= 0:
            return episodes
        dropped = set(np.argsort(self._buffer(episodes).rarity(), kind="stable")[:surplus].tolist())
        return [episode for number, episode in enumerate(episodes) if number not in dropped]

    def loss(self, buffer: EpisodeBuffer) -> float:
        """Minus the log-likelihood a step of some episodes."""
        batch = buffer.batch()
        with torch.no_grad():
            return float(sequence(self._model, batch, self._model.ground(batch.observations, check=False)))

    def _buffer(self, episodes: Sequence[Recorded]) -> EpisodeBuffer:
        buffer = EpisodeBuffer.for_machine(self._world.machine)
        frames = None if self._world.frames is None else self._world.frames.numpy()
        for observations, rewards in episodes:
            buffer.add(observations if frames is None else frames[observations], rewards=rewards)
        return buffer

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        return {
            "model": self._model.state_dict(),
            "kept": _as_tensors(self._kept),
            "fresh": _as_tensors(self._fresh),
            "bursts": self.bursts,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self._model.load_state_dict(state["model"])
        self._kept, self._fresh = _from_tensors(state["kept"]), _from_tensors(state["fresh"])
        self.bursts = state["bursts"]
        self._model.eval()
        self._memory.refresh()


def _as_tensors(episodes: Sequence[Recorded]) -> list[list[Tensor]]:
    return [[torch.from_numpy(observations), torch.from_numpy(rewards)] for observations, rewards in episodes]


def _from_tensors(episodes: list[list[Tensor]]) -> list[Recorded]:
    return [(observations.numpy(), rewards.numpy()) for observations, rewards in episodes]
