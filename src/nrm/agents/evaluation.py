"""How good a trained agent is: episodes on a fresh environment, with the truth looked at beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.agents.machine_methods import LearnedStates
from nrm.agents.playing import Played, play
from nrm.agents.training import Trainer
from nrm.envs import BatchedEnv
from nrm.machines import LevelCodec, Rounds, TaskSet
from nrm.tracking import Accuracy, Belief, Recorder

EDGES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of states up to which machines count as of one size."""


class TaskOutcome(NamedTuple):
    """What became of the episodes of one of many tasks."""

    name: str
    states: int
    """Of its machine."""
    episodes: int
    success_rate: float
    mean_steps: float | None
    """Of successful episodes; None where there are none."""


class RoundCounts(NamedTuple):
    """What became of the episodes of an infinite task: means over them."""

    accepting_visits: float
    """Steps that show a recurring part of the acceptance condition, and none that must end."""
    rounds: float
    """How often all parts that must recur were shown since the last time."""
    violation_rate: float
    """The share of episodes after which the task can no longer be satisfied."""


class _RoundCounter:
    """Counts along the true letters of N environments."""

    def __init__(self, tasks: Rounds, count: int) -> None:
        self._whole, self._union = tasks.infinite[0], tasks.union
        self._states = np.full(count, self._whole.moore.initial, dtype=np.int64)
        self._now = np.zeros((3, count))
        self._done: list[NDArray[np.float64]] = []

    def add(self, played: Played, active: NDArray[np.bool_]) -> None:
        """Count a step, and the episodes that end with it where they are `active` (envs,)."""
        reached, done = played.state.numpy(), played.done.numpy()
        self._states = self._whole.moore.moves.take(self._states, played.label.numpy())
        self._now += (
            self._whole.moore.accepting[self._states],
            self._union.accepting[reached],
            self._union.dead[reached],
        )
        self._done += list(self._now[:, done & active].T)
        self._now[:, done] = 0
        self._states[done] = self._whole.moore.initial

    @property
    def counts(self) -> RoundCounts:
        """The means over episodes."""
        return RoundCounts(*np.mean(self._done, axis=0).tolist())


@dataclass(frozen=True)
class Evaluation:
    """What an agent reached; None where a method has no such thing."""

    episodes: int
    mean_return: float
    success_rate: float
    mean_length: float
    state_accuracy: float | None
    """How often the memory's most probable state is the machine's true one. States of a machine that was learned stand
    for true ones, see `LearnedStates`; None before there is such a machine."""
    state_accuracy_modulo_shortcuts: float | None
    """The same under the symmetry that fits the grounding best: a mirror image of the task is tracked as well."""
    grounding: Accuracy | None
    """How often the grounder names what is seen, over the steps of the episodes."""
    by_task: tuple[TaskOutcome, ...] = ()
    """Task by task."""
    rounds: RoundCounts | None = None
    """Of an infinite task."""


def evaluate(
    trainer: Trainer,
    env: BatchedEnv,
    episodes: int,
    seed: int,
    greedy: bool,
    belief: Belief | None = None,
) -> Evaluation:
    """Play until every environment has done its share of the episodes, and no more is counted.

    Taking the first episodes to end instead would favour short ones. `belief`: as in `play`.
    """
    machine, codec, recorder = env.machine, LevelCodec.of(env.machine), Recorder(env.count, keep=False)
    left = np.array([len(part) for part in np.array_split(np.arange(episodes), env.count)])
    returns: list[float] = []
    lengths: list[int] = []
    successes: list[bool] = []
    tasks: list[int] = []
    tracks = trainer.tasks.either(trainer.method.tracks_states, False)
    tracked = np.zeros((machine.states, machine.states) if tracks else (1, 1), dtype=np.int64)
    inference = trainer.inference
    learned = LearnedStates(machine, inference.hypothesis.states) if inference and inference.versions else None
    said: list[Tensor] = []
    letters: list[Tensor] = []
    counter = _RoundCounter(env.tasks, env.count) if isinstance(env.tasks, Rounds) else None
    for played in play(trainer, env, seed, greedy, belief):
        active = left > 0
        if counter is not None:
            counter.add(played, active)
        recorder.add(played.batch.reward.numpy(), played.batch.final_observation.numpy())
        if tracks and played.belief is not None:
            believed = played.belief.argmax(-1).numpy()
            np.add.at(tracked, (played.state.numpy()[active], believed[active]), 1)
        if learned is not None and played.learned is not None:
            believed = played.learned.argmax(-1).numpy()
            learned.add(played.state.numpy()[active], believed[active], played.done.numpy()[active])
        if played.said is not None:
            said.append(played.said.argmax(-1)[torch.from_numpy(active)])
            letters.append(played.label[torch.from_numpy(active)])
        for episode in recorder.finish(played.done.numpy()):
            if active[episode.environment]:
                returns.append(codec.snap(episode.total))
                lengths.append(episode.length)
                successes.append(bool(machine.accepting[int(played.state[episode.environment])]))
                tasks.append(int(played.task[episode.environment]))
            left[episode.environment] -= 1
        if (left <= 0).all():
            break
    grounding = None
    if said:
        grounding = trainer.meter.compare(torch.cat(letters).numpy(), torch.cat(said).numpy())
    mirror = tuple(range(machine.states)) if grounding is None else grounding.mirror
    total = tracked.sum()
    accuracy = float(tracked.trace() / total) if total else None
    return Evaluation(
        episodes=len(returns),
        mean_return=float(np.mean(returns)),
        success_rate=float(np.mean(successes)),
        mean_length=float(np.mean(lengths)),
        state_accuracy=accuracy if learned is None else learned.accuracy(),
        state_accuracy_modulo_shortcuts=float(tracked[np.arange(machine.states), mirror].sum() / total)
        if total
        else None,
        grounding=grounding,
        by_task=_by_task(env.tasks, np.array(tasks), np.array(successes), np.array(lengths)),
        rounds=None if counter is None else counter.counts,
    )


def _by_task(
    pool: TaskSet, tasks: NDArray[np.int64], successes: NDArray[np.bool_], lengths: NDArray[np.int64]
) -> tuple[TaskOutcome, ...]:
    found = []
    for number, (name, machine) in enumerate(zip(pool.names, pool.machines, strict=True)):
        mine = tasks == number
        if not mine.any():
            continue
        won = mine & successes
        steps = float(lengths[won].mean()) if won.any() else None
        found.append(TaskOutcome(name, machine.states, int(mine.sum()), float(successes[mine].mean()), steps))
    return tuple(found)


class SizeOutcome(NamedTuple):
    """What became of the tasks whose machines are of about one size."""

    least: int
    """Fewest states of these machines."""
    most: int
    """Most states of them."""
    tasks: int
    success_rate: float
    """The mean over the tasks."""
    worst: float
    """The success rate of the worst of the tasks."""


def evaluate_tasks(
    trainer: Trainer,
    build: Callable[[int, TaskSet], BatchedEnv],
    pool: TaskSet,
    episodes: int,
    seed: int,
    *,
    greedy: bool = False,
    belief: Belief | None = "open-loop",
    progress: Callable[[int], None] | None = None,
) -> tuple[TaskOutcome, ...]:
    """As many episodes of every task of a pool, in envs that `build` makes of a number of envs and tasks.

    `belief`: what beliefs read; open follows the observations alone, so that nothing about a new task leaks.
    """
    found = []
    for number in range(len(pool)):
        env = build(min(episodes, 250), pool.subset([number]))
        (outcome,) = evaluate(trainer, env, episodes, seed + number, greedy, belief).by_task
        found.append(outcome)
        if progress is not None:
            progress(number + 1)
    return tuple(found)


def by_size(outcomes: Iterable[TaskOutcome]) -> tuple[SizeOutcome, ...]:
    """The outcomes of tasks with machines of about one size together, the smallest first."""
    sizes: dict[int, list[TaskOutcome]] = {}
    for outcome in outcomes:
        sizes.setdefault(sum(outcome.states > edge for edge in EDGES), []).append(outcome)
    found = []
    for _, some in sorted(sizes.items()):
        rates, states = [one.success_rate for one in some], [one.states for one in some]
        found.append(SizeOutcome(min(states), max(states), len(some), sum(rates) / len(rates), min(rates)))
    return tuple(found)
