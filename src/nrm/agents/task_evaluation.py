"""How good an agent of many tasks is on each of some tasks, and by the size of their machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from nrm.agents.evaluation import TaskOutcome, evaluate
from nrm.agents.training import Trainer
from nrm.envs.base import BatchedEnv
from nrm.machines import TaskSet
from nrm.tracking import Belief

MAX_SIDE_BY_SIDE = 250
"""Environments in which the episodes of one task are played."""
EDGES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of states up to which machines count as of one size."""


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
    belief: Belief | None = "open",
    restless: bool = True,
    progress: Callable[[int], None] | None = None,
) -> tuple[TaskOutcome, ...]:
    """As many episodes of every task of a pool, in envs that `build` makes of a number of envs and tasks.

    `belief`: what beliefs read; open follows the observations alone, so that nothing about a new task leaks.
    `restless`: whether sampled actions leave places where they get no further.
    """
    found = []
    for number in range(len(pool)):
        env = build(min(episodes, MAX_SIDE_BY_SIDE), pool.subset([number]))
        (outcome,) = evaluate(trainer, env, episodes, seed + number, greedy, belief, restless).by_task
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
