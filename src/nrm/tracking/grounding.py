"""Learning the grounding between windows of acting (paper, "Exploiting NRMs for non-Markovian RL")."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nrm.aliases import BoolArray
from nrm.errors import ConfigError, ContradictionError, EnvError
from nrm.inference import Episode, joined
from nrm.machines import LevelCodec
from nrm.neural import (
    EpisodeBatch,
    EpisodeBuffer,
    EvidenceTable,
    FitConfig,
    FitRecord,
    NeuralRewardMachine,
    contradiction,
    fit,
    observation_table,
    packed,
    unpacked,
)
from nrm.tracking.beliefs import BeliefMemory
from nrm.tracking.grounding_config import GroundingConfig, update_settings
from nrm.tracking.recorder import RecordedEpisode
from nrm.tracking.tracker import Tracker


class GroundingUpdate(NamedTuple):
    """What became of enough new episodes."""

    loss: float
    """Minus the log-likelihood a step of the new episodes, before anything was learned from them."""
    explained: float
    """The share of the new episodes whose whole sequence of rewards it called more probable than not."""
    record: FitRecord | None
    """The record of learning; None where nothing was learned."""
    decision: Decision
    """Why something was learned, or nothing."""


class Grounding:
    """The episodes that the grounder learns from, and when it does."""

    def __init__(
        self,
        model: NeuralRewardMachine,
        memory: BeliefMemory | Tracker,
        config: GroundingConfig,
        settings: FitConfig,
        frames: Tensor | None = None,
        blank: Tensor | None = None,
        withheld: BoolArray | None = None,
    ) -> None:
        """`memory`: looks at the grounder again after each update; `config`: when there is one, and from what.

        `settings`: how an update learns; `frames`: what row numbers stand for, if episodes hold these; `blank`: (0, …)
        no observations, but of the kind that will come, for saved states; `withheld`: (potentials,) those that a step
        may have reached whose reward is paid at the end of the episode, if rewards are.
        """
        self.model = model
        self._memory = memory
        self._config = config
        self._settings = settings
        self._table = observation_table(frames, blank)
        self._codec = LevelCodec(model.machine.levels.cpu().numpy(), model.machine.initial_level)
        self._withheld, self._evidence = withheld, EvidenceTable(len(self._codec.levels))
        if withheld is not None:
            self._evidence.codes(withheld[None], "before the end")
        self._kept: list[Episode] = []
        self._fresh: list[Episode] = []
        self._policy = UpdatePolicy(settings.target)
        self.learns = True
        """Whether updates learn anything; a frozen grounder stays as it is."""
        self.updates = 0
        """How many updates have learned something."""
        self.episodes = 0
        """How many episodes have been taken in."""

    @classmethod
    def of(
        cls,
        tracker: Tracker,
        every: int = 120,
        config: FitConfig | None = None,
        *,
        keep: int = 360,
        seed: int = 0,
    ) -> Grounding:
        """For a loop of one's own on a wrapped environment: `grounding.add(env.tracker.take())` after every episode.

        `every`: episodes between two updates; `config`: how an update learns, its seed included; `keep`: most episodes
        that are learned from; `seed`: of the updates, where there is no `config`.
        """
        if not isinstance(tracker.model, NeuralRewardMachine):
            other = "wrap the environment with nrm.model_for(env.observation_space, machine)"
            raise ConfigError(f"a {type(tracker.model).__name__} is given the truth and learns nothing; {other}")
        if not tracker.record:
            raise EnvError("the environment's wrapper keeps no episodes; make it with record=True")
        settings = update_settings(every, keep, config, seed)
        return cls(tracker.model, tracker, GroundingConfig(every=every, keep=keep), settings)

    def advance(self, progress: float) -> None:
        """Tell which share of training is over: beliefs are filtered first, and later those of tests."""
        if self._config.belief == "annealed" and progress >= 0.5 and isinstance(self._memory, BeliefMemory):
            self._memory.follow("open-loop")

    def add(self, episodes: Iterable[RecordedEpisode]) -> GroundingUpdate | None:
        """Take in finished episodes; when enough are new, learn. What became of them, or None while they are few.

        Episodes that no grounder can explain raise `ContradictionError` with the first impossible step.
        """
        if not self.learns:
            return None
        self._fresh += map(self._numbered, episodes)
        if len(self._fresh) < self._config.every:
            return None
        fresh, self._fresh = self._fresh, []
        settings = replace(self._settings, seed=self._settings.seed + 1000 * self.updates)
        batch = self._batch(fresh)
        self._check_possible(batch)
        self.episodes += len(fresh)
        loss, explained = self._surprise(batch)
        decision = self._policy.decide(loss)
        if decision.verdict != "learn":
            self._forget()
            return GroundingUpdate(loss, explained, None, decision)
        self.updates += 1
        self._kept = self._most_telling([*self._kept, *fresh])
        before, _ = self._surprise(self._batch(self._kept))
        record = fit(self.model, self._buffer(self._kept), "grounding", settings)
        self._policy.learned(before, record.best.held_out)
        self._memory.refresh()
        self._forget()
        return GroundingUpdate(loss, explained, record, decision)

    def take_over(self, grounder: nn.Module) -> None:
        """Begin with a grounder that has learned elsewhere."""
        self.model.grounder = copy.deepcopy(grounder).to(self.model.machine.levels.device)
        self.model.eval()
        self._memory.refresh()

    def _numbered(self, episode: RecordedEpisode) -> Episode:
        """An episode by numbers of observations and potentials."""
        seen = self._table.record(episode.observations)
        return Episode(seen, self._levels(episode.rewards), episode.letters, episode.task)

    def _levels(self, rewards: NDArray[np.float64]) -> NDArray[np.int64]:
        """(time,) what is known of the potential after each step."""
        place = f"episode {self.episodes + 1} since acting began"
        if self._withheld is None:
            return self._codec.encode(rewards, place)
        last = self._codec.encode(rewards.sum(keepdims=True), place)
        known = np.concatenate(
            [np.repeat(self._withheld[None], len(rewards) - 1, 0), last[:, None] == np.arange(len(self._withheld))]
        )
        return self._evidence.codes(known, place)

    def _forget(self) -> None:
        """Let go of the observations of episodes that were dropped."""
        moved = self._table.compact(joined(self._kept)[0])
        self._kept = [replace(episode, seen=moved[episode.seen]) for episode in self._kept]

    def _most_telling(self, episodes: list[Episode]) -> list[Episode]:
        """The episodes that are kept: a good policy does the same again and again, so rare rewards go first."""
        surplus = len(episodes) - self._config.keep
        if surplus <= 0:
            return episodes
        dropped = set(np.argsort(self._buffer(episodes).rarity(), kind="stable")[:surplus].tolist())
        return [episode for number, episode in enumerate(episodes) if number not in dropped]

    def _batch(self, episodes: Sequence[Episode]) -> EpisodeBatch:
        return self._buffer(episodes).batch().to(self.model.machine.levels.device)

    def _check_possible(self, batch: EpisodeBatch) -> None:
        """Raise where a new episode is impossible: no update could ever explain it."""
        found = contradiction(self.model.machine, batch)
        if found is not None:
            episode, step = self.episodes + found.episode + 1, found.step + 1
            where = f"episode {episode} since acting began, step {step} of it (both counting from 1)"
            raise ContradictionError(f"{where}: {found.reason}", episode, step)

    def _surprise(self, batch: EpisodeBatch) -> tuple[float, float]:
        """Of some episodes: minus the log-likelihood a step, and the share of those more probable than not."""
        with torch.no_grad():
            total, _ = self.model.batch_log_likelihood(batch, self.model.said_batch(batch))
        return 0.0 - float(total.sum()) / batch.steps, float((total > math.log(0.5)).double().mean())

    def _buffer(self, episodes: Sequence[Episode]) -> EpisodeBuffer:
        return EpisodeBuffer(self._codec.levels, self._codec.initial, self._table, None, episodes, self._evidence)

    def labelled(self) -> EpisodeBuffer | None:
        """The episodes that were learned from whose true letters are known; None where none are."""
        known = [episode for episode in self._kept if episode.symbols is not None]
        return self._buffer(known) if known else None

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        return {
            "model": self.model.state_dict(),
            "kept": _saved(self._kept),
            "fresh": _saved(self._fresh),
            "frames": self._table.saved(),
            "policy": self._policy.state_dict(),
            "bursts": self.updates,  # as checkpoints call them
            "episodes": self.episodes,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.model.load_state_dict(state["model"])
        self._kept, self._fresh = _loaded(state["kept"]), _loaded(state["fresh"])
        self._table = self._table.loaded(state["frames"])
        self._policy.load_state_dict(state["policy"])
        self.updates, self.episodes = state["bursts"], state["episodes"]
        self.model.eval()
        self._memory.refresh()


def _saved(episodes: Sequence[Episode]) -> dict[str, Tensor]:
    """Episodes one after the other; -1 for letters and tasks that are not known."""
    symbols = [np.full(len(one), -1) if one.symbols is None else one.symbols for one in episodes]
    tasks = [-1 if one.task is None else one.task for one in episodes]
    joint = torch.from_numpy(np.concatenate([np.zeros(0, dtype=np.int64), *symbols]))
    return {**packed(episodes), "symbols": joint, "tasks": torch.tensor(tasks, dtype=torch.int64)}


def _loaded(saved: dict[str, Tensor]) -> list[Episode]:
    """What `_saved` gave."""
    symbols = torch.split(saved["symbols"], saved["lengths"].tolist())
    known = [None if int(read[0]) < 0 else read.numpy() for read in symbols if len(read)]
    tasks = [None if task < 0 else task for task in saved["tasks"].tolist()]
    return [
        replace(episode, symbols=read, task=task)
        for episode, read, task in zip(unpacked(saved), known, tasks, strict=True)
    ]


Verdict = Literal["explained", "backing off", "learn"]

GAIN = 0.9
"""An update that leaves more than this share of the loss, of held-out episodes or of the next new ones, has brought
nothing."""


class Decision(NamedTuple):
    """What to do about new episodes, and why."""

    verdict: Verdict
    reason: str


@dataclass
class UpdatePolicy:
    """Decides at every check of new episodes whether a grounding update is due."""

    target: float
    """Nats a step at which episodes count as explained whatever else."""
    wait: int = 0
    """Checks for which an update that brought nothing makes later ones wait; doubles with each of these."""
    waited: int = 0
    last: float = float("inf")
    """The loss at the last check."""
    judged: bool = True
    """Whether it is known what the last update brought: the episodes that come next have the last word."""

    def decide(self, loss: float) -> Decision:
        """What to do about new episodes with this loss, in nats a step, under the present grounder."""
        before, self.last = self.last, loss
        if not self.judged:
            self._judge(loss > max(self.target, GAIN * before))
        if loss <= self.target:
            return Decision("explained", f"loss {loss:.4f} is at most {self.target:g}")
        # A loss twice that of the last check ends a back-off: something new is met.
        if self.waited < self.wait and loss <= 2.0 * before:
            self.waited += 1
            return Decision("backing off", f"the last update brought nothing; check {self.waited} of {self.wait}")
        return Decision("learn", f"loss {loss:.4f} is more than {self.target:g}")

    def learned(self, before: float, after: float) -> None:
        """Take in what an update brought: the loss of what it learned from before, and of held-out episodes after."""
        self.judged = False
        if after > GAIN * before:
            self._judge(True)

    def _judge(self, nothing: bool) -> None:
        """The last update brought nothing, or something."""
        self.judged = True
        self.waited = 0
        self.wait = min(32, 2 * self.wait or 1) if nothing else 0

    def state_dict(self) -> dict[str, Any]:
        """What decisions depend on."""
        return {name: value for name, value in vars(self).items() if name != "target"}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        vars(self).update(state)
