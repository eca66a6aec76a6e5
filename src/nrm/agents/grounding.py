"""Learning the grounding between windows of acting (paper, "Exploiting NRMs for non-Markovian RL")."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.agents.config import AgentConfig
from nrm.agents.observations import DistinctObservations
from nrm.envs import BatchedWorld
from nrm.neural import EpisodeBuffer, FitConfig, FitRecord, NeuralRewardMachine, fit, grounder_for
from nrm.neural.grounders import CnnGrounder, Grounder, MlpGrounder, PooledGrounder

Recorded: TypeAlias = tuple[NDArray[Any], NDArray[np.float64]]
"""The observations (or their row numbers) and the rewards of an episode."""

_GROUNDED_AT_ONCE = 512


class Refreshed(Protocol):
    """What looks at the grounder, and must look anew when it has learned."""

    def refresh(self) -> None:
        """Look at the grounder anew."""


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


class Burst(NamedTuple):
    """What became of enough new episodes."""

    loss: float
    """Minus the log-likelihood a step of the new episodes, before anything was learned from them."""
    explained: float
    """The share of the new episodes whose whole sequence of rewards it called more probable than not."""
    record: FitRecord | None
    """The record of learning; None where there was nothing to learn."""


class Grounding:
    """The episodes that the grounder learns from, and when it does."""

    def __init__(
        self,
        model: NeuralRewardMachine,
        memory: Refreshed,
        settings: FitConfig,
        every: int,
        most: int,
        frames: Tensor | None = None,
    ) -> None:
        """`memory`: told to look at the grounder anew; `settings`: how a burst learns, the seed of the first included.

        `every`: episodes between two bursts; `most`: episodes kept; `frames`: what row numbers stand for, if episodes
        hold these.
        """
        self._model = model
        self._memory = memory
        self._settings = settings
        self._every = every
        self._most = most
        self._frames = None if frames is None else frames.numpy()
        self._distinct = DistinctObservations()
        self._kept: list[Recorded] = []
        self._fresh: list[Recorded] = []
        self.bursts = 0
        """How many bursts have learned something."""

    def add(self, episodes: Iterable[Recorded]) -> Burst | None:
        """Take in finished episodes; when enough are new, learn. What became of them, or None while they are few."""
        self._fresh += map(self._numbered, episodes)
        if len(self._fresh) < self._every:
            return None
        fresh, self._fresh = self._fresh, []
        settings = replace(self._settings, seed=self._settings.seed + 1000 * self.bursts)
        loss, explained = self._surprise(self._buffer(fresh))
        if loss <= settings.target:
            # Nothing to learn: the grounder explains episodes that it has never seen.
            self._forget()
            return Burst(loss, explained, None)
        self.bursts += 1
        self._kept = self._most_telling([*self._kept, *fresh])
        record = fit(self._model, self._buffer(self._kept), "grounding", settings)
        self._memory.refresh()
        self._forget()
        return Burst(loss, explained, record)

    def _numbered(self, episode: Recorded) -> Recorded:
        """An episode whose observations are row numbers: of the frames, or of the distinct observations so far."""
        observations, rewards = episode
        return (observations if self._frames is not None else self._distinct.add(observations)), rewards

    def _forget(self) -> None:
        """Let go of the observations of episodes that were dropped."""
        if self._frames is None:
            numbers = self._distinct.forget([observations for observations, _ in self._kept])
            self._kept = [(left, rewards) for left, (_, rewards) in zip(numbers, self._kept, strict=True)]

    def _most_telling(self, episodes: list[Recorded]) -> list[Recorded]:
        """The episodes that are kept: a good policy does the same again and again, so rare rewards go first.

        Episodes of bursts with nothing to learn never get here, so what taught something once is not washed out.
        """
        surplus = len(episodes) - self._most
        if surplus <= 0:
            return episodes
        dropped = set(np.argsort(self._buffer(episodes).rarity(), kind="stable")[:surplus].tolist())
        return [episode for number, episode in enumerate(episodes) if number not in dropped]

    def _surprise(self, buffer: EpisodeBuffer) -> tuple[float, float]:
        """Of some episodes: minus the log-likelihood a step, and the share of those more probable than not."""
        batch = buffer.batch().to(self._model.machine.levels.device)
        with torch.no_grad():
            # In parts: the layers of a convolutional grounder on thousands of images would not fit into memory.
            parts = torch.split(batch.observations, _GROUNDED_AT_ONCE)
            symbols = torch.cat([self._model.ground(part, check=False) for part in parts])
            total, _ = self._model.batch_log_likelihood(batch, symbols)
        return float(-total.sum() / batch.steps), float((total > math.log(0.5)).double().mean())

    def _buffer(self, episodes: Sequence[Recorded]) -> EpisodeBuffer:
        machine = self._model.machine
        buffer = EpisodeBuffer(machine.levels.cpu().numpy(), machine.initial_level)
        rows = self._distinct if self._frames is None else self._frames
        for numbers, rewards in episodes:
            buffer.add(rows[numbers], rewards=rewards)
        return buffer

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        return {
            "model": self._model.state_dict(),
            "kept": _as_tensors(self._kept),
            "fresh": _as_tensors(self._fresh),
            "distinct": torch.from_numpy(self._distinct[np.arange(len(self._distinct))]) if self._distinct else None,
            "bursts": self.bursts,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self._model.load_state_dict(state["model"])
        self._kept, self._fresh = _from_tensors(state["kept"]), _from_tensors(state["fresh"])
        self._distinct = DistinctObservations(() if state["distinct"] is None else state["distinct"].numpy())
        self.bursts = state["bursts"]
        self._model.eval()
        self._memory.refresh()


def _as_tensors(episodes: Sequence[Recorded]) -> list[list[Tensor]]:
    return [[torch.from_numpy(observations), torch.from_numpy(rewards)] for observations, rewards in episodes]


def _from_tensors(episodes: list[list[Tensor]]) -> list[Recorded]:
    return [(observations.numpy(), rewards.numpy()) for observations, rewards in episodes]
