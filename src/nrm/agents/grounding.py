"""Learning the grounding between windows of acting (paper, "Exploiting NRMs for non-Markovian RL")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.agents.config import AgentConfig
from nrm.agents.episodes import Finished
from nrm.agents.memories import BeliefMemory
from nrm.envs import BatchedWorld
from nrm.neural import EpisodeBuffer, FitRecord, NeuralRewardMachine, fit, grounder_for
from nrm.neural.grounders import CnnGrounder, Grounder, MlpGrounder
from nrm.neural.objectives import sequence


def new_grounder(world: BatchedWorld, config: AgentConfig) -> Grounder:
    """A grounder for a world's observations: ours, or the one of the paper's appendix."""
    symbols = world.machine.alphabet.size
    if config.grounder == "default":
        return grounder_for(world.shape, symbols)
    if len(world.shape) == 3:
        return CnnGrounder(symbols, world.shape)
    return MlpGrounder.paper(int(np.prod(world.shape)), symbols)


class Grounding:
    """The episodes that the grounder learns from, and when it does."""

    def __init__(self, world: BatchedWorld, model: NeuralRewardMachine, memory: BeliefMemory, config: AgentConfig, seed: int) -> None:
        self._world = world
        self._model = model
        self._memory = memory
        self._config = config
        self._seed = seed
        self._recent: list[tuple[NDArray[Any], NDArray[np.float64]]] = []
        self._fresh = 0
        self.bursts = 0
        """How many bursts have learned something."""

    def add(self, episodes: Sequence[Finished]) -> FitRecord | None:
        """Take in finished episodes; when enough are new, learn. The record of learning, if there was any."""
        for episode in episodes:
            assert episode.observations is not None
            assert episode.rewards is not None
            self._recent.append((episode.observations, episode.rewards))
            self._fresh += 1
        if self._fresh < self._config.grounding_every:
            return None
        record = self._burst()
        self._fresh = 0
        del self._recent[: -self._config.grounding_memory]
        return record

    def _burst(self) -> FitRecord | None:
        settings = self._config.fit_config(self._seed + 1000 * self.bursts)
        new = self._buffer(self._recent[-self._fresh :])
        if self.loss(new) <= settings.target:
            return None  # nothing left to learn: the grounder explains what it has never seen
        self.bursts += 1
        record = fit(self._model, self._buffer(self._recent), "grounding", settings)
        self._memory.refresh()
        return record

    def loss(self, buffer: EpisodeBuffer) -> float:
        """Minus the log-likelihood a step of some episodes."""
        batch = buffer.batch()
        with torch.no_grad():
            return float(sequence(self._model, batch, self._model.ground(batch.observations, check=False)))

    def _buffer(self, episodes: Sequence[tuple[NDArray[Any], NDArray[np.float64]]]) -> EpisodeBuffer:
        buffer = EpisodeBuffer.for_machine(self._world.machine)
        frames = None if self._world.frames is None else self._world.frames.numpy()
        for observations, rewards in episodes:
            buffer.add(observations if frames is None else frames[observations], rewards=rewards)
        return buffer

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        return {
            "model": self._model.state_dict(),
            "observations": [torch.from_numpy(observations) for observations, _ in self._recent],
            "rewards": [torch.from_numpy(rewards) for _, rewards in self._recent],
            "fresh": self._fresh,
            "bursts": self.bursts,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self._model.load_state_dict(state["model"])
        pairs: zip[tuple[Tensor, Tensor]] = zip(state["observations"], state["rewards"], strict=True)
        self._recent = [(observations.numpy(), rewards.numpy()) for observations, rewards in pairs]
        self._fresh, self.bursts = state["fresh"], state["bursts"]
        self._model.eval()
        self._memory.refresh()
