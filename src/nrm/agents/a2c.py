"""Advantage actor-critic on any memory: collect a window of steps, learn from it once (Mnih et al., 2016)."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from nrm.agents.config import AgentConfig
from nrm.agents.memories import Memory, Seen, reset
from nrm.agents.networks import ActorCritic, features_for
from nrm.agents.returns import advantages
from nrm.envs import BatchedWorld, StepBatch
from nrm.errors import TrainingError


class Window(NamedTuple):
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


class Losses(NamedTuple):
    """The parts of one update's loss, before their weights."""

    actor: float
    critic: float
    entropy: float


class A2C:
    """One agent on one batched world. Memory and world are given; the networks are made here."""

    def __init__(self, world: BatchedWorld, memory: Memory, config: AgentConfig, seed: int) -> None:
        """Networks are drawn from `seed`, which leaves torch's global generator as it was."""
        self.world = world
        self.memory = memory
        self.config = config
        self.observation = world.reset(seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoder = features_for(world.shape, self._sample() if config.normalise else None)
            self.net = ActorCritic(encoder, memory.size, world.actions, config.hidden)
        self.generator = torch.Generator().manual_seed(seed)
        self.parameters = list(self.net.parameters())
        if isinstance(memory, nn.Module):
            self.parameters += list(memory.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.learning_rate, fused=True)
        self._table: Tensor | None = None
        self._policy: Tensor | None = None
        self._tabled = _few(world, memory, config)
        self.carry = memory.start(world.count)

    def _sample(self) -> Tensor | None:
        """Observations to normalise over: all there are, or the first images. First positions tell too little."""
        if self.world.frames is not None:
            return self.world.frames
        return self.observation if len(self.world.shape) == 3 else None

    def features(self, observation: Tensor) -> Tensor:
        """(n, width) features without gradient; those of known frames are computed once an update."""
        if self.world.frames is None:
            with torch.no_grad():
                result: Tensor = self.net.encoder(observation)
            return result
        if self._table is None:
            with torch.no_grad():
                self._table = self.net.encoder(self.world.frames)
        return self._table[observation]

    def encode(self, observation: Tensor) -> Tensor:
        """(…, width) features with gradient, of observations (…) with any leading dimensions."""
        if self.world.frames is not None:
            table: Tensor = self.net.encoder(self.world.frames)
            return table.index_select(0, observation.flatten()).view(*observation.shape, -1)
        leading = observation.shape[: observation.dim() - len(self.world.shape)]
        encoded: Tensor = self.net.encoder(observation.flatten(0, len(leading) - 1))
        return encoded.view(*leading, -1)

    @torch.no_grad()
    def collect(self) -> tuple[Window, list[StepBatch]]:
        """Act for a window of steps; the steps as the world gave them come along, for recording."""
        memory, world = self.memory, self.world
        columns: list[tuple[Tensor, ...]] = []
        batches: list[StepBatch] = []
        shape = (self.config.window, world.count, world.actions)
        # argmax(logits - log(-log(uniform))) is a sample of the softmax; the noise of a window is drawn at once.
        noise = -torch.empty(shape).exponential_(generator=self.generator).log()
        for step in range(self.config.window):
            action = (self._logits() + noise[step]).argmax(-1)
            batch = world.step(action)
            state = world.truth.final_state if memory.sees_truth else None
            features = self.features(batch.final_observation) if memory.learns else None
            reached = memory.read(self.carry, Seen(batch.final_observation, features, action, batch.reward, state))
            columns.append((self.observation, self.carry, action, *batch[1:4], batch.final_observation, reached))
            batches.append(batch)
            self.carry = reset(memory, reached, batch.terminated | batch.truncated)
            self.observation = batch.observation
        return Window(*map(torch.stack, zip(*columns, strict=True))), batches

    def _logits(self) -> Tensor:
        """(envs, actions) of the policy, here and now."""
        if not self._tabled:
            return self.net.logits(self.features(self.observation), self.memory.feature(self.carry))
        if self._policy is None:
            table, frames = self.memory.table, self.world.frames
            assert table is not None
            assert frames is not None
            seen = self.features(torch.arange(len(frames))).repeat_interleave(len(table), 0)
            self._policy = self.net.logits(seen, table.repeat(len(frames), 1))
        return self._policy[self._rows(self.observation, self.carry)]

    def _rows(self, observation: Tensor, carry: Tensor) -> Tensor:
        """The number of each pair of a frame and a row of the memory's table."""
        return observation * self.memory.size + carry

    def learn(self, window: Window, start: Tensor, entropy_weight: float | None = None) -> Losses:
        """One gradient step from a window; `start` is the carry at its beginning, for memories that learn."""
        config = self.config
        logits, values = self._evaluated(window, start)
        log_probs = torch.log_softmax(logits, -1)
        fixed = values.detach()
        with torch.no_grad():
            following = self._following(window, fixed)
            rewards = window.reward * config.reward_scale
            advantage = advantages(
                rewards, fixed, following, window.terminated, window.truncated, config.discount, config.gae
            )
        chosen = log_probs.gather(-1, window.action.unsqueeze(-1)).squeeze(-1)
        actor = -(chosen * advantage).mean()
        critic = (values - (fixed + advantage)).square().mean()
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        weight = config.entropy_weight if entropy_weight is None else entropy_weight
        loss = config.actor_weight * actor + config.critic_weight * critic - weight * entropy
        for parameter in self.parameters:  # as zero_grad does, at a tenth of its time
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        if config.gradient_norm is not None:
            nn.utils.clip_grad_norm_(self.parameters, config.gradient_norm, foreach=True)
        self.optimizer.step()
        self._table = self._policy = None
        losses = Losses(*torch.stack([actor, critic, entropy]).tolist())
        if not all(abs(part) < float("inf") for part in losses):
            raise TrainingError(
                f"the loss is no longer finite (actor {losses.actor:g}, critic {losses.critic:g}, entropy "
                f"{losses.entropy:g}); lower learning_rate (now {config.learning_rate:g}) or gradient_norm"
            )
        return losses

    def _evaluated(self, window: Window, start: Tensor) -> tuple[Tensor, Tensor]:
        """(time, envs, actions) logits and (time, envs) values of a window, with gradient."""
        leading = window.action.shape
        if self._tabled:
            # What is met again and again within a window is computed once.
            rows, places = torch.unique(self._rows(window.observation, window.carry), return_inverse=True)
            features, memory = self.encode(rows // self.memory.size), self.memory.feature(rows % self.memory.size)
            logits, values = self.net(features, memory)
            return logits[places], values[places]
        memory = self._remembered(window, start) if self.memory.learns else self.memory.feature(window.carry)
        logits, values = self.net(self.encode(window.observation).flatten(0, 1), memory.flatten(0, 1))
        return logits.view(*leading, -1), values.view(leading)

    def _following(self, window: Window, values: Tensor) -> Tensor:
        """(time, envs) V of what each action led to: the next row's value, or, where an episode ended, its own."""
        following = torch.empty_like(values)
        following[:-1] = values[1:]
        following[-1] = self.net.value(self.features(self.observation), self.memory.feature(self.carry))
        cut = window.truncated & ~window.terminated
        if bool(cut.any()):
            final = self.memory.feature(window.final_carry[cut])
            following[cut] = self.net.value(self.features(window.final_observation[cut]), final)
        return following

    def _remembered(self, window: Window, start: Tensor) -> Tensor:
        """(time, envs, size) the memory's features with gradient, read again from the carry at the window's start."""
        carry = start
        final_features = self.encode(window.final_observation)
        result = []
        for step in range(len(window.action)):
            result.append(self.memory.feature(carry))
            seen = Seen(
                window.final_observation[step], final_features[step], window.action[step], window.reward[step], None
            )
            done = window.terminated[step] | window.truncated[step]
            carry = reset(self.memory, self.memory.read(carry, seen), done)
        return torch.stack(result)

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        return {
            "net": self.net.state_dict(),
            "memory": self.memory.state_dict() if isinstance(self.memory, nn.Module) else {},
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "observation": self.observation,
            "carry": self.carry,
            "world": self.world.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.net.load_state_dict(state["net"])
        if isinstance(self.memory, nn.Module):
            self.memory.load_state_dict(state["memory"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"])
        self.observation, self.carry = state["observation"], state["carry"]
        self.world.load_state_dict(state["world"])
        self._table = self._policy = None


def _few(world: BatchedWorld, memory: Memory, config: AgentConfig) -> bool:
    """Whether the policy is a small table: all pairs of a frame and a memory, about as many as a window has steps."""
    if world.frames is None or memory.table is None:
        return False
    return len(world.frames) * len(memory.table) <= 4 * config.window * world.count
