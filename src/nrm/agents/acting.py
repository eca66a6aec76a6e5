"""Acting on a batched environment: the act loop, rollouts, and the actor-critic that on-policy algorithms share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from nrm.agents.actions import head_for
from nrm.agents.encoding import observations_of
from nrm.agents.networks import NetworkConfig, Sight, network_kind
from nrm.agents.networks.layers import RunningFeatures
from nrm.envs import BatchedEnv, StepBatch, Truth
from nrm.neural import attention_loss
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
    scores: Tensor
    """What the policy said of each action when it acted."""
    value: Tensor
    """(time, envs) what the critic expected then."""
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
    """Choose, step, read what it showed, start over where an episode ended, for ever. `carry`: of episodes that go on.

    `summary`: what memories that learn read of observations.
    """
    task = env.task
    carry = memory.begin(task) if carry is None else carry
    while True:
        carry = memory.settled(carry, partial(summary, observation))
        action = choose(observation, carry)
        batch, truth = env.step(action), env.truth
        shown = summary(batch.final_observation) if memory.learns else None
        state = truth.final_state if memory.sees_truth else None
        paid = batch.reward if reads_rewards else torch.zeros_like(batch.reward)
        seen = Transition(batch.final_observation, shown, action, paid, state, truth.label)
        reached = memory.read(carry, seen)
        following = env.task
        after = memory.reset(reached, batch.terminated | batch.truncated, following)
        yield Step(observation, carry, task, action, batch, truth, seen, reached, after)
        observation, carry, task = batch.observation, after, following


class Actor:
    """One actor-critic on one environment. Memory and environment are given; the networks are made here."""

    def __init__(self, env: BatchedEnv, memory: Memory, network: NetworkConfig, steps: int, seed: int) -> None:
        """`steps`: of each environment in a rollout. Networks are drawn from `seed`, torch's generator stays."""
        self.env = env
        self.memory = memory
        self.steps = steps
        self.device = env.device
        self.head = head_for(env.actions, self.device, network.squash_output)
        self.observation = env.reset(seed)
        self._seen = observations_of(env.spec)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            sample = self._seen.sample(self.observation)
            sight = Sight(env.spec, None if sample is None else sample.cpu(), memory.view_letters)
            # Drawn on the processor: equal seeds begin with equal networks on every device.
            self.net = cast("Any", network_kind(env, network).build(sight, memory.size, self.head)).to(self.device)
        self.net.head = self.head
        self.generator = torch.Generator().manual_seed(seed)
        self.parameters = list(self.net.parameters())
        if isinstance(memory, nn.Module):  # the agent's loss teaches it as well
            self.parameters += list(memory.parameters())
        self._unmoved = torch.zeros(env.count, 0, device=self.device)
        self.carry = memory.begin(env.task)

    @torch.no_grad()
    def collect(self) -> Rollout:
        """Act for a rollout."""
        # The noise of a rollout is drawn at once. Where it is held, each step still has the policy's distribution, and
        # log-probabilities are those of single steps (as in gSDE: Raffin, Kober and Stulp, 2022).
        drawn = self.head.noise((-(-self.steps // self.head.held), self.env.count), self.generator)
        noise = iter(drawn.repeat_interleave(self.head.held, 0).to(self.device))
        said: list[tuple[Tensor, Tensor]] = []

        def choose(observation: Tensor, carry: Tensor) -> Tensor:
            said.append(self.net(self.features(observation), self.memory.feature(carry)))
            return self.head.sample(said[-1][0], next(noise))

        steps = act(self.env, self.memory, self.summary, choose, self.observation, self.carry)
        columns: list[tuple[Tensor, ...]] = []
        for step in islice(steps, self.steps):
            batch = step.batch
            truth = (step.truth.final_state, step.truth.label, step.task)
            before = (step.observation, step.carry, step.action)
            columns.append(
                (*before, *batch[1:4], batch.final_observation, step.reached, *truth, *said[-1], self._unmoved)
            )
            self.observation, self.carry = batch.observation, step.after
        rollout = Rollout(*map(torch.stack, zip(*columns, strict=True)))
        if isinstance(self.net.encoder, RunningFeatures):
            self.net.encoder.notice(rollout.observation.flatten(0, 1))
        return rollout

    def updated(self) -> None:
        """The networks have changed: what was computed once is computed anew."""
        self._seen.updated()
        if self.memory.learns:
            self.memory.refresh()
        if isinstance(self.net.encoder, RunningFeatures):
            self.net.encoder.settle()

    def features(self, observation: Tensor) -> Tensor:
        """(n, width) features without gradient."""
        return self._seen.features(self.net, observation)

    def summary(self, observation: Tensor) -> Tensor:
        """(n, reads) what memories that learn read, without gradient."""
        result: Tensor = self.net.summary(self.features(observation))
        return result

    def evaluate(self, rollout: Rollout) -> tuple[Tensor, Tensor]:
        """(time, envs, scores) of the policy and (time, envs) values of a rollout, with gradient."""
        leading = rollout.reward.shape
        memory = self._remembered(rollout) if self.memory.learns else self.memory.feature(rollout.carry)
        logits, values = self.net(self._encode(rollout.observation).flatten(0, 1), memory.flatten(0, 1))
        return logits.view(*leading, -1), values.view(leading)

    @torch.no_grad()
    def preprocess(self, rollout: Rollout, motion: bool = True) -> Rollout:
        """A rollout to learn from again and again, with what moves in it, if `motion` is asked for.

        Where images have few distinct patches, their numbers (time, envs, places) take their place until an update.
        """
        return self._seen.preprocess(self.net, rollout, motion)

    def inverse_dynamics_loss(self, rollout: Rollout) -> Tensor | None:
        """How much attention misses of what moves, and the mean -log of the probability that it gives each action.

        The rollout is one that was preprocessed. None for networks without `motion`, and where nobody has looked for
        what moves.
        """
        motion = getattr(self.net, "motion", None)
        if motion is None or not rollout.moved.shape[-1]:
            return None
        images = torch.stack([rollout.observation, rollout.final_observation]).flatten(1, 2)
        scores, looks = motion(*self._encode(images))
        log_probs, _ = self.head.evaluate(scores, rollout.action.flatten(0, 1))
        return attention_loss(looks, rollout.moved.flatten(0, 1)) - log_probs.mean()

    @torch.no_grad()
    def next_values(self, rollout: Rollout, values: Tensor) -> Tensor:
        """(time, envs) V of what each action led to: the next row's value, or, where an episode ended, its own."""
        found = torch.empty_like(values)
        found[:-1] = values[1:]
        found[-1] = self._value(self.observation, self.carry)
        cut = rollout.truncated & ~rollout.terminated
        if bool(cut.any()):
            found[cut] = self._value(rollout.final_observation[cut], rollout.final_carry[cut])
        return found

    def _value(self, observation: Tensor, carry: Tensor) -> Tensor:
        """(n,) what the critic expects."""
        value: Tensor = self.net(self.features(observation), self.memory.feature(carry))[1]
        return value

    def _encode(self, observation: Tensor) -> Tensor:
        """(…, width) features with gradient, of observations (…) with any leading dimensions."""
        return self._seen.encode(self.net, observation)

    def _remembered(self, rollout: Rollout) -> Tensor:
        """(time, envs, size) the memory's features with gradient, read again from the carry at the beginning."""
        features = self.net.summary(self._encode(rollout.final_observation))
        seen = Transition(rollout.final_observation, features, rollout.action, rollout.reward, None)
        return self.memory.unrolled(rollout.carry[0], seen, rollout.done, rollout.task)

    def state_dict(self) -> dict[str, Any]:
        """Everything that acting goes on from."""
        return {
            "net": self.net.state_dict(),
            "memory": self.memory.state_dict(),
            "generator": self.generator.get_state(),
            "observation": self.observation,
            "carry": self.carry,
            "env": self.env.state_dict(),
        }

    def load_weights(self, state: dict[str, Any]) -> None:
        """What acting needs of a state: the weights of the networks, and of a memory that learns."""
        self.net.load_state_dict(state["net"])
        self.memory.load_state_dict(state["memory"])
        self.updated()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.generator.set_state(state["generator"])
        self.observation, self.carry = state["observation"].to(self.device), state["carry"].to(self.device)
        self.env.load_state_dict(state["env"])
        self.load_weights(state)
