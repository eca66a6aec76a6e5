"""How good a trained agent is: episodes on a fresh world, with the truth looked at beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nrm.agents.accuracy import Accuracy, grounding_accuracy
from nrm.agents.memories import Seen, reset
from nrm.agents.training import Trainer
from nrm.envs import BatchedWorld, StepBatch


class Shown(NamedTuple):
    """One step of N environments under a policy."""

    action: Tensor
    """(envs,)"""
    batch: StepBatch
    carry: Tensor
    """The memory after the step, before any reset."""
    label: Tensor
    """(envs,) the true letter read."""
    state: Tensor
    """(envs,) the machine's true state reached."""


@dataclass(frozen=True)
class Evaluation:
    """What an agent reached; None where a method has no such thing."""

    episodes: int
    mean_return: float
    success_rate: float
    mean_length: float
    state_accuracy: float | None
    """How often the memory's most probable state is the machine's true one."""
    state_accuracy_modulo_shortcuts: float | None
    """The same under the symmetry that fits the grounding best: a mirror image of the task is tracked as well."""
    grounding: Accuracy | None
    """How often the grounder names what is seen, over the steps of the episodes."""


def play(trainer: Trainer, world: BatchedWorld, seed: int, greedy: bool) -> Iterator[Shown]:
    """Act on a world without end, with the trainer's policy as it is."""
    memory, net = trainer.memory_on(world), trainer.agent.net
    generator = torch.Generator().manual_seed(seed)

    def features(observation: Tensor) -> Tensor:
        rows = observation if world.frames is None else world.frames[observation]
        encoded: Tensor = net.encoder(rows)
        return encoded

    with torch.no_grad():
        observation = world.reset(seed)
        carry = memory.start(world.count)
        while True:
            logits = net.logits(features(observation), memory.feature(carry))
            noise = -torch.empty_like(logits).exponential_(generator=generator).log()
            action = (logits if greedy else logits + noise).argmax(-1)
            batch = world.step(action)
            truth = world.truth
            state = truth.final_state if memory.sees_truth else None
            seen = Seen(batch.final_observation, features(batch.final_observation), action, batch.reward, state)
            reached = memory.read(carry, seen)
            yield Shown(action, batch, reached, truth.label, truth.final_state)
            carry = reset(memory, reached, batch.terminated | batch.truncated)
            observation = batch.observation


def evaluate(trainer: Trainer, world: BatchedWorld, episodes: int, seed: int, greedy: bool) -> Evaluation:
    """Play until every environment has done its share of the episodes, and no more is counted.

    Taking the first episodes to end instead would favour short ones.
    """
    share = np.array([len(part) for part in np.array_split(np.arange(episodes), world.count)])
    done = np.zeros(world.count, dtype=np.int64)
    machine, memory = world.machine, trainer.agent.memory
    good = np.unique(machine.outputs[machine.accepting]) - machine.outputs[machine.initial]
    totals, lengths = np.zeros(world.count), np.zeros(world.count, dtype=np.int64)
    returns: list[float] = []
    durations: list[int] = []
    tracked = np.zeros((machine.states, machine.states), dtype=np.int64)
    seen: list[Tensor] = []
    letters: list[Tensor] = []
    for shown in play(trainer, world, seed, greedy):
        active = done < share
        totals += shown.batch.reward.numpy()
        lengths += 1
        if trainer.method != "rnn":
            believed = memory.feature(shown.carry).argmax(-1).numpy()
            np.add.at(tracked, (shown.state.numpy()[active], believed[active]), 1)
        if trainer.model is not None:
            seen.append(shown.batch.final_observation[torch.from_numpy(active)])
            letters.append(shown.label[torch.from_numpy(active)])
        for index in np.flatnonzero((shown.batch.terminated | shown.batch.truncated).numpy()):
            if active[index]:
                returns.append(float(totals[index]))
                durations.append(int(lengths[index]))
            done[index] += 1
            totals[index], lengths[index] = 0.0, 0
        if (done >= share).all():
            break
    success = [bool((np.abs(good - total) < 1e-3).any()) for total in returns]
    grounding, mirror = None, tuple(range(machine.states))
    if trainer.model is not None:
        rows = torch.cat(seen)
        observations = rows if world.frames is None else world.frames[rows]
        grounding = grounding_accuracy(machine, trainer.model, observations, torch.cat(letters))
        mirror = grounding.mirror
    return Evaluation(
        episodes=len(returns),
        mean_return=float(np.mean(returns)),
        success_rate=float(np.mean(success)),
        mean_length=float(np.mean(durations)),
        state_accuracy=None if trainer.method == "rnn" else float(tracked.trace() / tracked.sum()),
        state_accuracy_modulo_shortcuts=None
        if trainer.method == "rnn"
        else float(tracked[np.arange(machine.states), mirror].sum() / tracked.sum()),
        grounding=grounding,
    )
