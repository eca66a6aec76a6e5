"""Training: acting, learning and, where the method grounds, grounding, until enough episodes are done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from nrm.agents.algorithms import ALGORITHMS, Learner
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.agents.networks import NetworkConfig, network_kind, resolved
from nrm.envs.world import BatchedWorld
from nrm.errors import TrainingError
from nrm.machines.levels import LevelCodec
from nrm.neural import NeuralRewardMachine
from nrm.tracking import Accuracy, AccuracyMeter, RecordedEpisode, Recorder


@dataclass
class History:
    """What happened, episode by episode; grows during training."""

    returns: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    successes: list[bool] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """Steps of all environments together when the episode ended."""
    accuracy: list[tuple[int, float, float, float]] = field(default_factory=list)
    """Of a grounder: (episode, plain, balanced, modulo shortcuts) before the first and after every burst."""

    def mean_return(self, last: int = 100) -> float:
        """The mean return of the last episodes; 0 before any is done."""
        return float(np.mean(self.returns[-last:])) if self.returns else 0.0


class Trainer:
    """One run: a method's memory and an algorithm on a world. Equal inputs give equal results."""

    def __init__(
        self, world: BatchedWorld, method: Method, prepared: Prepared, learner: Learner, episodes: int
    ) -> None:
        self.world = world
        self.method = method
        self.grounding = prepared.grounding
        self.learner = learner
        self.episodes = episodes
        self.history = History()
        self.steps = 0
        """Steps of all environments together."""
        self.updates = 0
        self.meter = AccuracyMeter(world.machine)
        seen = world.shape if world.frames is None else ()
        kind = world.dtype if world.frames is None else torch.int64
        blank = torch.empty(0, world.count, *seen, dtype=kind).numpy()
        self._recorder = Recorder(world.count, keep=self.grounding is not None, blank=blank)
        self._codec = LevelCodec.of(world.machine)
        self._record_accuracy()

    @property
    def model(self) -> NeuralRewardMachine | None:
        """The neural reward machine whose grounder is learned, where the method has one."""
        return None if self.grounding is None else self.grounding.model

    @property
    def done(self) -> bool:
        """Whether all episodes are done."""
        return len(self.history.returns) >= self.episodes

    def run(self) -> History:
        """Train to the end."""
        while not self.done:
            self.update()
        return self.history

    def update(self) -> Mapping[str, float]:
        """Act for one rollout and learn from it; ground when it is time. The parts of the loss, by name."""
        rollout = self.learner.collect()
        episodes = len(self.history.returns)
        try:
            losses = self.learner.learn(rollout, episodes / self.episodes)
        except TrainingError as error:
            raise TrainingError(f"after {episodes} episodes, in update {self.updates + 1}: {error}") from None
        finished: list[RecordedEpisode] = []
        observations, rewards = rollout.final_observation.numpy(), rollout.reward.numpy()
        done, states = rollout.done.numpy(), rollout.final_state.numpy()
        for step in range(len(rewards)):
            self._recorder.add(rewards[step], observations[step])
            ended = self._recorder.finish(done[step])
            finished += ended
            self.steps += self.world.count
            self._log(ended, states[step])
        self.updates += 1
        if self.grounding is not None:
            burst = self.grounding.add(finished)
            if burst is not None and burst.record is not None:
                self._record_accuracy()
        return losses

    def _log(self, ended: list[RecordedEpisode], states: np.ndarray[Any, Any]) -> None:
        """Note episodes that ended in these states (envs,)."""
        history = self.history
        for episode in ended[: self.episodes - len(history.returns)]:
            history.returns.append(self._codec.snap(episode.total))
            history.lengths.append(episode.length)
            history.successes.append(bool(self.world.machine.accepting[states[episode.environment]]))
            history.steps.append(self.steps)

    def accuracy(self) -> Accuracy | None:
        """The grounder's accuracy over all frames; None where there is no grounder or no list of frames."""
        labels = self.world.true_labels()
        if self.model is None or labels is None or self.world.frames is None:
            return None
        return self.meter.measure(self.model, self.world.frames, labels)

    def _record_accuracy(self) -> None:
        found = self.accuracy()
        if found is not None:
            episode = len(self.history.returns)
            self.history.accuracy.append((episode, found.plain, found.balanced, found.modulo_shortcuts))

    def state_dict(self) -> dict[str, Any]:
        """Everything that training goes on from: tensors, numbers, lists and dictionaries only."""
        history = self.history
        return {
            "learner": self.learner.state_dict(),
            "recorder": self._recorder.state_dict(),
            "grounding": None if self.grounding is None else self.grounding.state_dict(),
            "steps": self.steps,
            "updates": self.updates,
            "history": {
                "returns": torch.tensor(history.returns, dtype=torch.float64),
                "lengths": torch.tensor(history.lengths, dtype=torch.int64),
                "successes": torch.tensor(history.successes, dtype=torch.bool),
                "steps": torch.tensor(history.steps, dtype=torch.int64),
                "accuracy": torch.tensor(history.accuracy, dtype=torch.float64).reshape(-1, 4),
            },
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.learner.load_state_dict(state["learner"])
        self._recorder.load_state_dict(state["recorder"])
        if self.grounding is not None:
            self.grounding.load_state_dict(state["grounding"])
        self.steps, self.updates = state["steps"], state["updates"]
        saved = state["history"]
        accuracy = [(int(row[0]), row[1], row[2], row[3]) for row in saved["accuracy"].tolist()]
        columns = {name: saved[name].tolist() for name in ("returns", "lengths", "successes", "steps")}
        self.history = History(**columns, accuracy=accuracy)


def new_trainer(
    world: BatchedWorld,
    method: str = "nrm",
    algorithm: str = "a2c",
    *,
    episodes: int = 10_000,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Trainer:
    """A run at its beginning. `settings`: the dataclasses of `algorithm`, `network` and the method's section."""
    given = settings or {}
    what, how = METHODS[method], ALGORITHMS[algorithm]
    memory_settings = given.get(what.section) or (what.config and what.config())
    network = resolved(world, given.get("network") or NetworkConfig(), how.images)
    prepared = what.prepare(world, memory_settings, network_kind(world, network).reads(world.shape), seed)
    learner = how.build(world, prepared.memory, given.get("algorithm") or how.config(), network, seed)
    return Trainer(world, what, prepared, learner, episodes)
