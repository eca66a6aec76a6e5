"""Machines, episodes and slow twins for the tests of `neural`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

import nrm
from nrm.machines import MooreMachine, TaskSet
from nrm.neural import EpisodeBuffer

SYMBOLS = ("a", "b", "c", "d", "e")


def task(number: int) -> MooreMachine:
    return nrm.compile(nrm.logic.paper_task(number).formula(), SYMBOLS)


def random_traces(machine: MooreMachine, count: int, length: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """Random letters, and the potential index after each."""
    generator = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        letters = generator.integers(machine.alphabet.size, size=length).tolist()
        state, levels = machine.initial, []
        for letter in letters:
            state = machine.next_state(state, letter)
            levels.append(int(machine.level_of_state[state]))
        result.append((letters, levels))
    return result


def letter_buffer(machine: MooreMachine, count: int, length: int, seed: int = 0) -> EpisodeBuffer:
    """Episodes whose observations are the letters themselves."""
    buffer = EpisodeBuffer.for_machine(machine)
    for letters, levels in random_traces(machine, count, length, seed):
        buffer.add(letters, levels=levels, symbols=letters)
    return buffer


def slow_beliefs(symbols: Tensor, transitions: Tensor, start: Tensor) -> Tensor:
    """The paper's equation, letter by letter and step by step: (time, states) from symbols (time, letters)."""
    beliefs = []
    belief = start
    for step in symbols:
        belief = sum((step[p] * (belief @ transitions[p]) for p in range(len(step))), torch.zeros_like(belief))
        beliefs.append(belief)
    return torch.stack(beliefs)


def slow_log_likelihood(
    symbols: Tensor, transitions: Tensor, rewards: Tensor, start: Tensor, levels: Sequence[int]
) -> Tensor:
    """Sum over all state paths, without normalising anything."""
    weights = start
    for step, level in zip(symbols, levels, strict=True):
        moved = sum((step[p] * (weights @ transitions[p]) for p in range(len(step))), torch.zeros_like(weights))
        weights = moved * rewards[:, level]
    return weights.sum().log()


def of_several_tasks(
    machines: Sequence[MooreMachine], buffers: Sequence[EpisodeBuffer]
) -> tuple[TaskSet, EpisodeBuffer]:
    """The tasks of some machines, and the episodes of all of them."""
    tasks = TaskSet.of(machines)
    together = EpisodeBuffer.for_tasks(tasks)
    for number, (machine, buffer) in enumerate(zip(machines, buffers, strict=True)):
        for episode in buffer:
            rewards = np.diff(buffer.levels[episode.levels], prepend=machine.outputs[machine.initial])
            together.add(buffer.observations(episode.seen), rewards=rewards, symbols=episode.symbols, task=number)
    return tasks, together
