"""Training: acting, learning and, for NRM, grounding, until enough episodes are done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from nrm.agents.a2c import A2C, Losses
from nrm.agents.accuracy import Accuracy, grounding_accuracy
from nrm.agents.config import METHODS, AgentConfig, Method
from nrm.agents.episodes import EpisodeCutter, Finished
from nrm.agents.grounding import Grounding, new_grounder
from nrm.agents.memories import BeliefMemory, MachineMemory, Memory, RecurrentMemory
from nrm.agents.networks import features_width
from nrm.envs import BatchedWorld
from nrm.errors import ConfigError, TrainingError, listing, suggestion
from nrm.neural import NeuralRewardMachine, ProbabilisticMoore


@dataclass
class History:
    """What happened, episode by episode; grows during training."""

    returns: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    successes: list[bool] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """Steps of all environments together when the episode ended."""
    accuracy: list[tuple[int, float, float, float]] = field(default_factory=list)
    """NRM: (episode, plain, balanced, modulo shortcuts) before the first and after every burst of learning."""

    def mean_return(self, last: int = 100) -> float:
        """The mean return of the last episodes; 0 before any is done."""
        return float(np.mean(self.returns[-last:])) if self.returns else 0.0


class Trainer:
    """One run: a world, a method, a configuration and a seed. Equal inputs give equal results."""

    def __init__(self, world: BatchedWorld, method: Method, config: AgentConfig, seed: int = 0) -> None:
        if method not in METHODS:
            raise ConfigError(f"unknown method '{method}'{suggestion(method, METHODS)} (methods: {listing(METHODS)})")
        self.world = world
        self.method = method
        self.config = config
        self.model: NeuralRewardMachine | None = None
        self.grounding: Grounding | None = None
        memory = self._memory(seed)
        self.agent = A2C(world, memory, config, seed)
        self.cutter = EpisodeCutter(world.machine, world.count, keep=method == "nrm")
        self.history = History()
        self.updates = 0
        self._record_accuracy()

    def _memory(self, seed: int) -> Memory:
        world, config = self.world, self.config
        if self.method == "rm":
            return MachineMemory(world.machine)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + 1)
            if self.method == "rnn":
                return RecurrentMemory(
                    features_width(world.shape),
                    world.actions,
                    config.recurrent_size,
                    config.recurrent_layers,
                    config.recurrent_reads_rewards,
                )
            grounder = new_grounder(world, config)
        self.model = NeuralRewardMachine(grounder, ProbabilisticMoore.from_machine(world.machine)).eval()
        memory = BeliefMemory(self.model, world.frames, config.belief == "conditioned")
        self.grounding = Grounding(world, self.model, memory, config, seed)
        return memory

    def memory_on(self, world: BatchedWorld) -> Memory:
        """The memory as it is now, for acting on another world of the same task."""
        if self.model is None:
            return self.agent.memory
        return BeliefMemory(self.model, world.frames, self.config.belief == "conditioned")

    @property
    def done(self) -> bool:
        """Whether all episodes are done."""
        return len(self.history.returns) >= self.config.episodes

    def run(self) -> History:
        """Train to the end."""
        while not self.done:
            self.update()
        return self.history

    def update(self) -> Losses:
        """Act for one window and learn from it; ground when it is time."""
        start = self.agent.carry
        window, batches = self.agent.collect()
        episodes = len(self.history.returns)
        try:
            losses = self.agent.learn(window, start, self.config.entropy_weight_after(episodes))
        except TrainingError as error:
            raise TrainingError(f"after {episodes} episodes, in update {self.updates + 1}: {error}") from None
        finished: list[Finished] = []
        for place, batch in enumerate(batches, 1):
            ended = self.cutter.add(batch)
            finished += ended
            steps = (self.updates * self.config.window + place) * self.world.count
            for episode in ended[: self.config.episodes - len(self.history.returns)]:
                self.history.returns.append(episode.total)
                self.history.lengths.append(episode.length)
                self.history.successes.append(episode.success)
                self.history.steps.append(steps)
        self.updates += 1
        if self.grounding is not None and self.grounding.add(finished) is not None:
            self._record_accuracy()
        return losses

    def accuracy(self) -> Accuracy | None:
        """The grounder's accuracy over all frames; None where there is no grounder or no list of frames."""
        labels = self.world.true_labels()
        if self.model is None or labels is None or self.world.frames is None:
            return None
        return grounding_accuracy(self.world.machine, self.model, self.world.frames, labels)

    def _record_accuracy(self) -> None:
        found = self.accuracy()
        if found is not None:
            episode = len(self.history.returns)
            self.history.accuracy.append((episode, found.plain, found.balanced, found.modulo_shortcuts))

    def state_dict(self) -> dict[str, Any]:
        """Everything that training goes on from: tensors, numbers, lists and dictionaries only."""
        history = self.history
        return {
            "agent": self.agent.state_dict(),
            "cutter": self.cutter.state_dict(),
            "grounding": None if self.grounding is None else self.grounding.state_dict(),
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
        self.agent.load_state_dict(state["agent"])
        self.cutter.load_state_dict(state["cutter"])
        if self.grounding is not None:
            self.grounding.load_state_dict(state["grounding"])
        self.updates = state["updates"]
        saved = state["history"]
        accuracy = [(int(row[0]), row[1], row[2], row[3]) for row in saved["accuracy"].tolist()]
        self.history = History(
            saved["returns"].tolist(),
            saved["lengths"].tolist(),
            saved["successes"].tolist(),
            saved["steps"].tolist(),
            accuracy,
        )
