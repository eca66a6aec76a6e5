"""Symbols and machine where observations are without end, offline: random episodes of drawn layouts, from images.

Nothing is known but images and rewards. Shown is how often the machine is the task's up to the names of symbols, the
share of all steps whose true symbols are read as one and the same, and CPU seconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import tyro

import nrm
from benchmarks.common import report
from nrm.envs import ACTIONS, MINECRAFT_SYMBOLS, BatchedTasks, find_env
from nrm.errors import LearningError
from nrm.machines import until_over
from nrm.neural import EpisodeBuffer, FitConfig, discover, renaming
from nrm.tracking import Recorder

SIDE_BY_SIDE = 32
"""Environments that are recorded together."""


@dataclass(frozen=True)
class Config:
    """Learn symbols and machines."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    tasks: tuple[int, ...] = (1, 3, 5)
    """Which of the paper's tasks."""
    seeds: int = 3
    """How many seeds."""
    first_seed: int = 600
    """The first of them. Settings were chosen on seeds 1 to 3."""
    episodes: tuple[int, ...] = (100, 300)
    """How many episodes are learned from."""
    size: int = 4
    """Cells along a side."""


def record(machine: nrm.MooreMachine, count: int, seed: int, size: int) -> EpisodeBuffer:
    """Episodes under the uniform policy, with true symbols for evaluation."""
    env = BatchedTasks(replace(find_env("image-episode"), size=size), machine, SIDE_BY_SIDE)
    env.reset(seed)
    generator = torch.Generator().manual_seed(seed)
    recorder = Recorder(SIDE_BY_SIDE, True, letters=True)
    buffer = EpisodeBuffer.for_machine(machine)
    while len(buffer) < count:
        batch = env.step(torch.randint(len(ACTIONS), (SIDE_BY_SIDE,), generator=generator))
        recorder.add(batch.reward.numpy(), batch.final_observation.numpy(), env.truth.label.numpy())
        for episode in recorder.finish((batch.terminated | batch.truncated).numpy())[: count - len(buffer)]:
            buffer.add(episode.observations, rewards=episode.rewards, symbols=episode.letters)
    return buffer


def row(task: int, count: int, config: Config) -> list[object]:
    """What was found over all seeds."""
    machine = nrm.compile(nrm.logic.paper_task(task).formula(MINECRAFT_SYMBOLS), MINECRAFT_SYMBOLS)
    right, seconds, agreed, states, distinct = 0, 0.0, list[float](), list[str](), list[int]()
    for seed in range(config.first_seed, config.first_seed + config.seeds):
        buffer = record(machine, count, seed, config.size)
        distinct.append(buffer.distinct)
        began = time.process_time()
        try:
            found = discover(buffer, 16, FitConfig(seed=seed))
        except LearningError:
            states.append("none")
            continue
        finally:
            seconds += (time.process_time() - began) / config.seeds
        right += renaming(found.machine, until_over(machine)) is not None
        states.append(str(found.machine.states))
        true = buffer.symbols()
        assert true is not None
        read = found.symbols[np.concatenate([episode.seen for episode in buffer])]
        counts = np.zeros((machine.alphabet.size, found.machine.alphabet.size))
        np.add.at(counts, (true, read), 1)
        agreed.append(counts.max(1).sum() / counts.sum())
    share = f"{np.mean(agreed):.2%}" if agreed else "-"
    images = int(np.mean(distinct))
    return [
        task,
        until_over(machine).states,
        count,
        images,
        f"{right}/{config.seeds}",
        ", ".join(states),
        share,
        seconds,
    ]


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows = []
    for count in config.episodes:
        for task in config.tasks:
            rows.append(row(task, count, config))
            print(*rows[-1], flush=True)
    headings = ["task", "states", "episodes", "images", "right", "states found", "symbols read as one", "CPU s"]
    report("Symbols and machine from drawn layouts", headings, rows, config.out, "endless")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
