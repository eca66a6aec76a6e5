"""The act loop: transitions of a policy on a batched environment, and the rollouts they are stacked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from nrm.envs import BatchedEnv, StepBatch, Truth
from nrm.tracking import Memory, Transition


class Rollout(NamedTuple):
    """Some steps of N environments. All (time, envs, …)."""

    observation: Tensor
    """What each action was taken at."""
    carry: Tensor
    """The memory there."""
    action: Tensor
    reward: Tensor
    terminated: Tensor
    truncated: Tensor
    final_observation: Tensor
    """What each action led to, before any reset."""
    final_carry: Tensor
    """The memory then, before any reset."""
    final_state: Tensor
    """The machine's true state then: for memories that see it, and to tell successes."""
    label: Tensor
    """The true letter that was read: for evaluation alone."""
    task: Tensor
    """The number of the task; 0 where there is one."""
    moved: Tensor
    """(time, envs, places) 1.0 where what was seen before an action differs from what was seen after it; no places
    where nobody has looked yet, see `Actor.preprocess`."""

    @property
    def done(self) -> Tensor:
        """(time, envs) where an episode ended."""
        return self.terminated | self.truncated

    def at(self, steps: Tensor) -> Rollout:
        """(1, n, …) some steps, by their numbers (n,) in time * envs + env: for memories that are not replayed."""
        return Rollout(*(column.flatten(0, 1).index_select(0, steps).unsqueeze(0) for column in self))

    def subsample(self, every: int) -> Rollout:
        """Every so many steps: of the environments where there is one step, else in time."""
        return Rollout(*(column[:, ::every] if len(self.reward) == 1 else column[::every] for column in self))

    def of(self, num_envs: Tensor) -> Rollout:
        """(time, n, …) all steps of some environments, by their numbers (n,)."""
        return Rollout(*(column.index_select(1, num_envs) for column in self))


class Step(NamedTuple):
    """One step of N environments: where it began, what was done, and what came of it."""

    observation: Tensor
    """What the action was taken at."""
    carry: Tensor
    """The memory there."""
    task: Tensor
    """(envs,) the number of the task; 0 where there is one."""
    action: Tensor
    batch: StepBatch
    truth: Truth
    """For memories that see it, and for evaluation."""
    seen: Transition
    """What the memory read."""
    reached: Tensor
    """The memory then, before any reset."""
    after: Tensor
    """The memory that the next step begins with."""


Choose = Callable[[Tensor, Tensor], Tensor]
"""From observations and carries (envs, …) to actions."""


def act(
    env: BatchedEnv,
    memory: Memory,
    summary: Callable[[Tensor], Tensor],
    choose: Choose,
    observation: Tensor,
    carry: Tensor | None = None,
    reads_rewards: bool = True,
) -> Iterator[Step]:
    """Steps without end: choose, step, read what it showed, and begin anew where an episode ended.

    `summary`: what memories that learn read of observations. `carry`: that of episodes that go on.
    """
    task = current_tasks(env, observation.device)
    carry = memory.begin(task) if carry is None else carry
    while True:
        action = choose(observation, carry)
        batch, truth = env.step(action), env.truth
        shown = summary(batch.final_observation) if memory.learns else None
        state = truth.final_state if memory.sees_truth else None
        paid = batch.reward if reads_rewards else torch.zeros_like(batch.reward)
        seen = Transition(batch.final_observation, shown, action, paid, state, truth.label)
        reached = memory.read(carry, seen)
        following = current_tasks(env, observation.device)
        after = memory.reset(reached, batch.terminated | batch.truncated, following)
        yield Step(observation, carry, task, action, batch, truth, seen, reached, after)
        observation, carry, task = batch.observation, after, following


def current_tasks(env: BatchedEnv, device: torch.device | None = None) -> Tensor:
    """(envs,) the number of the task that each environment has now; 0 where there is one."""
    found: Tensor | None = getattr(env, "task", None)
    return torch.zeros(env.count, dtype=torch.int64, device=device) if found is None else found
