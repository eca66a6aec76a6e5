"""Training: acting, learning and, where the method grounds, grounding, until enough episodes are done."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from nrm.agents.acting import Rollout
from nrm.agents.algorithms import ALGORITHMS, Learner
from nrm.agents.devices import CPU, find_device, placed
from nrm.agents.methods import METHODS, Method, Prepared
from nrm.agents.networks import NetworkConfig, network_kind, resolved
from nrm.envs import BatchedEnv
from nrm.errors import ConfigError, TrainingError
from nrm.machines import LevelCodec
from nrm.neural import NeuralRewardMachine
from nrm.tracking import (
    Accuracy,
    AccuracyMeter,
    GroundingUpdate,
    RecordedEpisode,
    Recorder,
)


class Decided(NamedTuple):
    """A decision of the update policy, as runs keep it."""

    episode: int
    """How many episodes were done."""
    loss: float
    """Nats a step of the new episodes, before anything was learned from them."""
    explained: float
    """The share of them that was explained."""
    reached: float | None
    """Nats a step of held-out episodes after learning; None where nothing was learned."""
    verdict: str
    reason: str


@dataclass
class History:
    """What happened, episode by episode; grows during training."""

    returns: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    successes: list[bool] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """Steps of all environments together when the episode ended."""
    accuracy: list[tuple[int, float, float, float]] = field(default_factory=list)
    """Of a grounder: (episode, plain, balanced, modulo shortcuts) before the first and after every update."""
    decisions: list[Decided] = field(default_factory=list)
    """What became of every look at new episodes, those with nothing to learn included."""

    def mean_return(self, last: int = 100) -> float:
        """The mean return of the last episodes; 0 before any is done."""
        return float(np.mean(self.returns[-last:])) if self.returns else 0.0


class Trainer:
    """A run: a method and an algorithm in an environment. Equal inputs give equal results."""

    def __init__(
        self,
        env: BatchedEnv,
        method: Method,
        prepared: Prepared,
        learner: Learner,
        episodes: int,
        most_steps: int | None = None,
        device: torch.device = CPU,
    ) -> None:
        """`most_steps`: of all environments together, to train for in place of episodes.

        `device`: where the learner is; the environment is on the processor.
        """
        self.most_steps = most_steps
        self.device = device
        self.env = env
        self.method = method
        self.grounding = prepared.grounding
        self.inference = prepared.inference
        self.learner = learner
        self.episodes = episodes
        self.history = History()
        self.steps = 0
        """Steps so far, over all environments."""
        self.updates = 0
        self.tasks = env.tasks
        """What episodes have one of."""
        self._numbered = env.tasks.either(_as_ended, _with_tasks)
        self.meter = AccuracyMeter(env.tasks)
        # Where what a grounder says depends on what came before, its accuracy is that over recorded episodes.
        self._labelled = self.model is not None
        if self.inference is not None:
            self._labelled = self.inference.letters.labelled
        keeps = self.grounding is not None or self.inference is not None
        self._recorder = Recorder(env.count, keeps, env.spec.blank(env.count).numpy(), letters=self._labelled)
        self._codec = LevelCodec.of(env.machine)
        self._record_accuracy()

    @property
    def model(self) -> NeuralRewardMachine | None:
        """The neural reward machine, if the method learns a grounder."""
        return None if self.grounding is None else self.grounding.model

    @property
    def done(self) -> bool:
        """Whether training is complete."""
        return self.progress >= 1.0

    @property
    def progress(self) -> float:
        """The share of training that is complete."""
        return self.reached / (self.most_steps or self.episodes)

    @property
    def reached(self) -> int:
        """Episodes so far, or steps if the length is given in steps."""
        return len(self.history.returns) if self.most_steps is None else self.steps

    def run(self) -> History:
        """Train to the end."""
        while not self.done:
            self.update()
        return self.history

    def update(self) -> Mapping[str, float]:
        """Collect one rollout and learn from it; update the grounder when it is due. Returns the losses by name."""
        if self.grounding is not None:
            self.grounding.advance(self.progress)
        rollout = self.learner.collect()
        episodes = len(self.history.returns)
        try:
            losses = self.learner.learn(self.learner.memory.credited(rollout, self._summary), self.progress)
        except TrainingError as error:
            raise TrainingError(f"after {episodes} episodes, in update {self.updates + 1}: {error}") from None
        ended = self._recorder.record(
            rollout.reward.cpu().numpy(),
            rollout.final_observation.cpu().numpy(),
            rollout.done.cpu().numpy(),
            rollout.label.cpu().numpy() if self._labelled else None,
        )
        ended = self._numbered(ended, rollout)
        self._log(ended, rollout.final_state.cpu().numpy())
        self.steps += rollout.reward.numel()
        self.updates += 1
        if self.grounding is not None:
            update = self.grounding.add([episode for _, episode in ended])
            if update is not None:
                self._record_update(update)
        if self.inference is not None:
            self.inference.add(episode for _, episode in ended)
        if self.done:
            self.learner.memory.finish()
        return losses

    def _summary(self, observation: Tensor) -> Tensor:
        """(n, reads) what the policy's network makes of observations (n, …), or of their row numbers."""
        policy = self.learner.policy
        return policy.summary(policy.encoder(self.env.spec.shown(observation)))

    def _record_update(self, update: GroundingUpdate) -> None:
        reached = None if update.record is None else update.record.best.held_out
        decided = Decided(len(self.history.returns), update.loss, update.explained, reached, *update.decision)
        self.history.decisions.append(decided)
        if update.record is not None:
            self._record_accuracy()

    def _log(self, ended: Ended, states: np.ndarray[Any, Any]) -> None:
        """Note episodes, each with the step of the rollout at which it ended; states: (time, envs) of the rollout."""
        history, accepting = self.history, self.env.machine.accepting
        most = len(ended) if self.most_steps is not None else self.episodes - len(history.returns)
        for step, episode in ended[:most]:
            history.returns.append(self._codec.snap(episode.total))
            history.lengths.append(episode.length)
            history.successes.append(bool(accepting[states[step, episode.environment]]))
            history.steps.append(self.steps + (step + 1) * self.env.count)

    def accuracy(self) -> Accuracy | None:
        """Accuracy of the grounder: over all observations, sampled ones, or recent ones.

        None without a grounder or without labels. For a recurrent grounder, over the episodes it learned from.
        """
        if self.model is None:
            return None
        # Of large observations fewer: 8 million numbers in all.
        shown = self.env.probe(min(4000, 8_000_000 // max(1, math.prod(self.env.shape))))
        found = None if shown is None else self.meter.measure(self.model, shown.observations, shown.letters)
        if found is not None or self.grounding is None:
            return found
        episodes = self.grounding.labelled()
        return None if episodes is None else self.meter.measure_episodes(self.model, episodes)

    def _record_accuracy(self) -> None:
        found = self.accuracy()
        if found is not None:
            episode = len(self.history.returns)
            self.history.accuracy.append((episode, found.plain, found.balanced, found.modulo_shortcuts))

    def weights(self) -> dict[str, Any] | None:
        """The weights that acting needs; None if an external algorithm does not provide them."""
        if not hasattr(self.learner, "weights"):
            return None
        return {
            "learner": self.learner.weights(),
            "grounder": None if self.model is None else self.model.grounder.state_dict(),
            "inference": None if self.inference is None else self.inference.weights(),
            "steps": self.steps,
            "updates": self.updates,
        }

    def load_weights(self, state: dict[str, Any]) -> None:
        """Load weights for acting only."""
        cast(Any, self.learner).load_weights(state["learner"])
        if self.grounding is not None:
            grounder = self.grounding.model.grounder
            grounder.load_state_dict(state["grounder"])
            self.grounding.take_over(grounder)
        if self.inference is not None:
            self.inference.load_state_dict(state["inference"])
        self.steps, self.updates = state["steps"], state["updates"]

    def _parts(self) -> dict[str, Any]:
        """All that has a state of its own."""
        parts = {"learner": self.learner, "recorder": self._recorder, "grounding": self.grounding}
        parts |= {"inference": self.inference}
        return {name: part for name, part in parts.items() if part is not None}

    def state_dict(self) -> dict[str, Any]:
        """Everything that training resumes from: tensors, numbers, lists and dictionaries.

        Nothing is copied, so it costs the same however long the history is.
        """
        parts = {name: part.state_dict() for name, part in self._parts().items()}
        counts = {"steps": self.steps, "updates": self.updates, "history": vars(self.history)}
        return {"grounding": None, **parts, **counts}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        self.steps, self.updates = state["steps"], state["updates"]
        self.history = History(**{name: list(rows) for name, rows in state["history"].items()})


def new_trainer(
    env: BatchedEnv,
    method: str = "nrm",
    algorithm: str = "a2c",
    *,
    episodes: int = 10_000,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    grounder: nn.Module | None = None,
    steps: int | None = None,
    device: str | torch.device = "cpu",
) -> Trainer:
    """A trainer for a new run.

    `settings`: dataclasses of the sections `algorithm`, `network` and of the method. `grounder`: a trained grounder to
    start from. `steps`: number of training steps, summed over environments, in place of episodes. `device`: cpu, cuda
    or auto.
    """
    given = settings or {}
    where = find_device(device) if isinstance(device, str) else device
    seen = placed(env, where)
    what, how = METHODS[method], ALGORITHMS[algorithm]
    memory_settings = given.get(what.section) or (what.config and what.config())
    network = resolved(env, given.get("network") or NetworkConfig(), how.images)
    prepared = what.prepare(seen, memory_settings, network_kind(env, network).reads(env.shape), seed)
    if grounder is not None:
        if prepared.grounding is None:
            raise ConfigError(f"the method '{method}' learns no symbols, so it can take no grounder")
        prepared.grounding.take_over(grounder)
    learner = how.build(seen, prepared.memory, given.get("algorithm") or how.config(), network, seed)
    return Trainer(env, what, prepared, learner, episodes, steps, where)


Ended = list[tuple[int, RecordedEpisode]]
"""Episodes, each with the step of the rollout at which it ended."""


def _as_ended(ended: Ended, rollout: Rollout) -> Ended:  # noqa: ARG001 - there is one task
    return ended


def _with_tasks(ended: Ended, rollout: Rollout) -> Ended:
    """Each with the number of its task."""
    tasks = rollout.task.cpu().numpy()
    return [(step, one._replace(task=int(tasks[step, one.environment]))) for step, one in ended]
