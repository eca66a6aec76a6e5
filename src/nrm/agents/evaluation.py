"""How good a trained agent is: episodes on a fresh world, with the truth looked at beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nrm.agents.training import Trainer
from nrm.envs.world import BatchedWorld, StepBatch
from nrm.machines.levels import LevelCodec
from nrm.tracking import Accuracy, BeliefMemory, Recorder, Seen, reset


class Played(NamedTuple):
    """One step of N environments under a policy."""

    action: Tensor
    """(envs,)"""
    batch: StepBatch
    memory: Tensor
    """(envs, size) what the policy sees of its memory after the step, before any reset."""
    label: Tensor
    """(envs,) the true letter read."""
    state: Tensor
    """(envs,) the machine's true state reached."""
    said: Tensor | None = None
    """(envs, letters) what the grounder says of the step; None where the method has none."""

    @property
    def done(self) -> Tensor:
        """(envs,) where an episode ended."""
        return self.batch.terminated | self.batch.truncated


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


def play(trainer: Trainer, world: BatchedWorld, seed: int, greedy: bool) -> Iterator[Played]:
    """Act on a world without end, with the trainer's policy as it is."""
    policy, memory = trainer.learner.policy, trainer.learner.memory.on(world.frames)
    generator = torch.Generator().manual_seed(seed)

    def features(observation: Tensor) -> Tensor:
        return policy.encoder(observation if world.frames is None else world.frames[observation])

    with torch.no_grad():
        observation = world.reset(seed)
        carry = memory.start(world.count)
        while True:
            logits = policy.logits(features(observation), memory.feature(carry))
            noise = -torch.empty_like(logits).exponential_(generator=generator).log()
            action = (logits if greedy else logits + noise).argmax(-1)
            batch = world.step(action)
            truth = world.truth
            state = truth.final_state if memory.sees_truth else None
            seen = Seen(batch.final_observation, features(batch.final_observation), action, batch.reward, state)
            reached = memory.read(carry, seen)
            said = memory.letters(carry, batch.final_observation) if isinstance(memory, BeliefMemory) else None
            yield Played(action, batch, memory.feature(reached), truth.label, truth.final_state, said)
            carry = reset(memory, reached, batch.terminated | batch.truncated)
            observation = batch.observation


def evaluate(trainer: Trainer, world: BatchedWorld, episodes: int, seed: int, greedy: bool) -> Evaluation:
    """Play until every environment has done its share of the episodes, and no more is counted.

    Taking the first episodes to end instead would favour short ones.
    """
    machine, codec, recorder = world.machine, LevelCodec.of(world.machine), Recorder(world.count, keep=False)
    left = np.array([len(part) for part in np.array_split(np.arange(episodes), world.count)])
    returns: list[float] = []
    lengths: list[int] = []
    successes: list[bool] = []
    tracked = np.zeros((machine.states, machine.states), dtype=np.int64)
    said: list[Tensor] = []
    letters: list[Tensor] = []
    for played in play(trainer, world, seed, greedy):
        active = left > 0
        recorder.add(played.batch.reward.numpy(), played.batch.final_observation.numpy())
        if trainer.method.tracks_states:
            believed = played.memory.argmax(-1).numpy()
            np.add.at(tracked, (played.state.numpy()[active], believed[active]), 1)
        if played.said is not None:
            said.append(played.said.argmax(-1)[torch.from_numpy(active)])
            letters.append(played.label[torch.from_numpy(active)])
        for episode in recorder.finish(played.done.numpy()):
            if active[episode.environment]:
                returns.append(codec.snap(episode.total))
                lengths.append(episode.length)
                successes.append(bool(machine.accepting[int(played.state[episode.environment])]))
            left[episode.environment] -= 1
        if (left <= 0).all():
            break
    grounding = None
    if said:
        grounding = trainer.meter.compare(torch.cat(letters).numpy(), torch.cat(said).cpu().numpy())
    mirror = tuple(range(machine.states)) if grounding is None else grounding.mirror
    total = tracked.sum()
    return Evaluation(
        episodes=len(returns),
        mean_return=float(np.mean(returns)),
        success_rate=float(np.mean(successes)),
        mean_length=float(np.mean(lengths)),
        state_accuracy=float(tracked.trace() / total) if total else None,
        state_accuracy_modulo_shortcuts=float(tracked[np.arange(machine.states), mirror].sum() / total)
        if total
        else None,
        grounding=grounding,
    )
