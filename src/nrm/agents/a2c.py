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
    memory: Tensor
    """The memory's feature there."""
    action: Tensor
    reward: Tensor
    terminated: Tensor
    truncated: Tensor
    final_observation: Tensor
    """What each action led to, before any reset."""
    final_memory: Tensor
    """The memory's feature of that."""
    state: Tensor | None
    """The machine's true state that was reached: only where the memory may see it."""


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
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoder = features_for(world.shape, world.frames, config.normalise)
            self.net = ActorCritic(encoder, memory.size, world.actions, config.hidden)
        self.generator = torch.Generator().manual_seed(seed)
        self.parameters = list(self.net.parameters())
        if isinstance(memory, nn.Module):
            self.parameters += list(memory.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.learning_rate, fused=True)
        self._table: Tensor | None = None
        self.observation = world.reset(seed)
        self.carry = memory.start(world.count)

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
        columns: list[tuple[Tensor | None, ...]] = []
        batches: list[StepBatch] = []
        shape = (self.config.window, world.count, world.actions)
        # argmax(logits - log(-log(uniform))) is a sample of the softmax; the noise of a window is drawn at once.
        noise = -torch.empty(shape).exponential_(generator=self.generator).log()
        for step in range(self.config.window):
            feature = memory.feature(self.carry)
            action = (self.net.logits(self.features(self.observation), feature) + noise[step]).argmax(-1)
            batch = world.step(action)
            state = world.truth.final_state if memory.sees_truth else None
            features = self.features(batch.final_observation) if memory.learns else None
            seen = Seen(batch.final_observation, features, action, batch.reward, state)
            reached = memory.read(self.carry, seen)
            columns.append(
                (
                    self.observation,
                    feature,
                    action,
                    batch.reward,
                    batch.terminated,
                    batch.truncated,
                    batch.final_observation,
                    memory.feature(reached),
                    state,
                )
            )
            batches.append(batch)
            self.carry = reset(memory, reached, batch.terminated | batch.truncated)
            self.observation = batch.observation
        stacked = [None if column[0] is None else torch.stack(column) for column in zip(*columns, strict=True)]
        return Window(*stacked), batches  # type: ignore[arg-type]

    def learn(self, window: Window, start: Tensor) -> Losses:
        """One gradient step from a window; `start` is the carry at its beginning, for memories that learn."""
        config = self.config
        features = self.encode(window.observation)
        memory = self._remembered(window, start) if self.memory.learns else window.memory
        logits, values = self.net(features, memory)
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
        loss = config.actor_weight * actor + config.critic_weight * critic - config.entropy_weight * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if config.gradient_norm is not None:
            nn.utils.clip_grad_norm_(self.parameters, config.gradient_norm, foreach=True)
        self.optimizer.step()
        self._table = None
        losses = Losses(*torch.stack([actor, critic, entropy]).tolist())
        if not all(abs(part) < float("inf") for part in losses):
            raise TrainingError(f"the loss is no longer finite ({losses}); lower the learning rate")
        return losses

    def _following(self, window: Window, values: Tensor) -> Tensor:
        """(time, envs) V of what each action led to: the next row's value, or, where an episode ended, its own."""
        following = torch.empty_like(values)
        following[:-1] = values[1:]
        following[-1] = self.net.value(self.features(self.observation), self.memory.feature(self.carry))
        cut = window.truncated & ~window.terminated
        if bool(cut.any()):
            following[cut] = self.net.value(self.features(window.final_observation[cut]), window.final_memory[cut])
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
        self._table = None
