"""The callbacks that train the grounder, or learn the machine, between windows of acting."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from nrm.errors import EnvError
from nrm.machines import MachineLike, TaskSet
from nrm.neural import FitConfig, NeuralRewardMachine, ObservationTable
from nrm.sb3.counterfactual import CounterfactualReplayBuffer
from nrm.sb3.vec_wrapper import NeuralRewardMachineVecWrapper, find_wrapper
from nrm.tracking import (
    Accuracy,
    AccuracyMeter,
    Grounding,
    GroundingUpdate,
    MachineLearning,
    RecordedEpisode,
    Tracker,
    update_settings,
)
from nrm.wrappers import Model, as_model


class _Learning(BaseCallback):
    """What both callbacks share: the wrapper of the environment, its episodes at the end of a rollout, and the log."""

    def __init__(self, model: Model, verbose: int) -> None:
        super().__init__(verbose)
        self._followed = model
        self._wrapper: NeuralRewardMachineVecWrapper | None = None

    def _init_callback(self) -> None:
        self._wrapper = find_wrapper(self.training_env)
        if self._wrapper is None or self._wrapper.model != self._followed:
            raise EnvError("the callback and NeuralRewardMachineVecWrapper must be given one and the same model")

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        """Learn from the episodes that ended. What was just acted on keeps the beliefs that it was acted on with."""
        assert self._wrapper is not None
        episodes = self._wrapper.tracker.take()
        if episodes:
            self._learn(self._wrapper.tracker, episodes)

    def _learn(self, tracker: Tracker, episodes: list[RecordedEpisode]) -> None:
        raise NotImplementedError

    def _record(self, section: str, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self.logger.record(f"{section}/{name}", value)


class GroundingCallback(_Learning):
    """Train the grounder of a neural reward machine on the episodes of the agent.

    Every `every` episodes it checks whether the grounder explains their rewards, and trains it if not. With a
    `MooreMachine` or `TaskSet` it does nothing. Counterfactual experience is used only while the grounder explains the
    rewards.

    It logs `grounding/loss` (nats per step of new episodes, before learning), `grounding/explained` (the share
    explained), `grounding/updates`, `grounding/checks`, `grounding/episodes`, `grounding/decision`, `grounding/reason`
    and, with `task`, the accuracy. An episode that no grounder can explain is an error that names the impossible step.
    """

    def __init__(
        self,
        model: NeuralRewardMachine | MachineLike | TaskSet,
        every: int = 120,
        config: FitConfig | None = None,
        *,
        keep: int = 360,
        forget: bool = False,
        task: MachineLike | TaskSet | None = None,
        seed: int = 0,
        verbose: int = 0,
    ) -> None:
        """Train the grounder of `model`, the one in the wrapper of the environment.

        `every`: episodes between two updates. `config`: how an update learns. `keep`: maximum number of episodes to
        learn from. `forget`: empty the replay buffer after an update, because its beliefs are outdated. `task`: also
        log the accuracy, from the true symbols of `nrm.TaskEnv`; they are not learned from. `seed`: of the updates,
        without `config`.
        """
        self.machine = as_model(model)
        super().__init__(self.machine, verbose)
        self._settings = update_settings(every, keep, config, seed)
        self._schedule = every, keep
        self.updates: list[GroundingUpdate] = []
        """What became of the episodes, update by update; those that had nothing to learn included."""
        self.accuracy: Accuracy | None = None
        """The latest one, where it was asked for."""
        self._forget = forget
        self._meter = None if task is None else AccuracyMeter(task)
        self._seen = 0
        self._grounding: Grounding | None = None
        self._labelled: deque[RecordedEpisode] = deque(maxlen=100)  # whose letters tell the accuracy
        self._stale = False

    def _init_callback(self) -> None:
        super()._init_callback()
        assert self._wrapper is not None
        if not isinstance(self.machine, NeuralRewardMachine):
            return
        tracker, (every, keep) = self._wrapper.tracker, self._schedule
        tracker.keeps_letters = self._meter is not None
        self._grounding = self._grounding or Grounding.of(tracker, every, self._settings, keep=keep)
        self._trust(bool(self.updates) and self.updates[-1].loss <= self._settings.target)

    def _trust(self, trusted: bool) -> None:
        """Let counterfactual experience rely on the grounder, or not."""
        replay = getattr(self.model, "replay_buffer", None)
        if isinstance(replay, CounterfactualReplayBuffer):
            replay.imagines = trusted

    def _learn(self, tracker: Tracker, episodes: list[RecordedEpisode]) -> None:  # noqa: ARG002
        """Learn where enough episodes are new."""
        if self._grounding is None:
            return
        self._seen += len(episodes)
        self._labelled.extend(episode for episode in episodes if episode.letters is not None)
        update = self._grounding.add(episodes)
        if update is None:
            return
        self.updates.append(update)
        self._trust(update.decision.verdict == "explained" or (update.record is not None and update.record.explained))
        self._stale = self._forget and update.record is not None
        self._log(update)

    def _on_rollout_start(self) -> None:
        """Empty a replay buffer with beliefs of the past: now, when new steps come before it is sampled again."""
        replay = getattr(self.model, "replay_buffer", None)
        if self._stale and replay is not None:
            replay.reset()
        self._stale = False

    def _log(self, update: GroundingUpdate) -> None:
        assert self._grounding is not None
        values = {
            "loss": update.loss,
            "explained": update.explained,
            "updates": self._grounding.updates,
            "checks": len(self.updates),
            "episodes": self._seen,
        }
        self.accuracy = self._accuracy()
        if self.accuracy is not None:
            values["accuracy"] = self.accuracy.plain
            values["balanced_accuracy"] = self.accuracy.balanced
            values["accuracy_modulo_shortcuts"] = self.accuracy.modulo_shortcuts
        self._record("grounding", values)
        self.logger.record("grounding/decision", update.decision.verdict)
        self.logger.record("grounding/reason", update.decision.reason, exclude="stdout")
        if self.verbose:
            reached = "" if update.record is None else f" -> {update.record.best.held_out:.4f} nats a step"
            print(f"after {self._seen} episodes: {update.decision.verdict} ({update.decision.reason}){reached}")

    def _accuracy(self) -> Accuracy | None:
        """Over the distinct observations of the last episodes; of a recurrent grounder, over the steps of kept ones."""
        if self._meter is None or not self._labelled or not isinstance(self.machine, NeuralRewardMachine):
            return None
        frames = ObservationTable()
        numbers = frames.add(np.concatenate([episode.observations for episode in self._labelled]))
        letters = np.concatenate([episode.letters for episode in self._labelled if episode.letters is not None])
        _, first = np.unique(numbers, return_index=True)
        shown = torch.from_numpy(frames[:]), torch.from_numpy(letters[first])
        found = self._meter.measure(self.machine, *shown)
        kept = None if found is not None or self._grounding is None else self._grounding.labelled()
        return found if kept is None else self._meter.measure_episodes(self.machine, kept)


class MachineCallback(_Learning):
    """Infer an unknown machine (`nrm.tracking.unknown_machine`) from the episodes of the agent.

    After each rollout, new episodes are compared with the machine. If one refutes it, the machine is inferred again.
    States keep their numbers where they agree, and current beliefs are updated. It logs `machine/states`,
    `machine/versions`, `machine/episodes` and `machine/assumed` (transitions that no episode took).
    """

    def __init__(self, model: MachineLearning, verbose: int = 0) -> None:
        """`model`: the one that the environment is wrapped with."""
        if not isinstance(model, MachineLearning):
            raise EnvError(
                f"MachineCallback needs tracking.unknown_machine(), not {type(model).__name__}; for known tasks use "
                "GroundingCallback"
            )
        super().__init__(model, verbose)
        self.learning = model

    def _learn(self, tracker: Tracker, episodes: list[RecordedEpisode]) -> None:
        """Learn where an episode refutes the machine."""
        version, known = self.learning.add(episodes), self.learning.hypothesis
        values = {
            "states": known.states,
            "versions": len(self.learning.versions),
            "episodes": self.learning.episodes,
            "assumed": known.certainty().assumed,
        }
        self._record("machine", values)
        if version is not None:
            tracker.refresh()
        if version is not None and self.verbose:
            print(f"after {version.episode} episodes: a machine of {known.states} states, {known.certainty()}")
