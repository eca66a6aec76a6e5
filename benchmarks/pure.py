"""Pure learning: symbols, grounding and machine, from observations and rewards of random episodes alone.

`discover` learns each task of the map world from scratch, beside joint descent on grounder and machine. Shown: how
often the machine is equivalent to the task's up to the names of symbols, and how many reward sequences of fresh
episodes are predicted without a mistake. Episodes end when the task is accomplished or failed, so no episode shows
what comes after: the task's machine is compared with its accepting and failed states made absorbing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro

import nrm
from benchmarks import worlds
from benchmarks.common import report
from nrm import MooreMachine
from nrm.neural import (
    EpisodeBuffer,
    FitConfig,
    MlpGrounder,
    NeuralRewardMachine,
    ProbabilisticMoore,
    discover,
    extract,
    fit,
    renaming,
)


@dataclass(frozen=True)
class Config:
    """Learn everything."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Which of the paper's tasks."""
    seeds: int = 3
    """How many seeds."""
    episodes: int = 240
    """How many episodes are learned from."""
    fresh: int = 200
    """How many further episodes are predicted."""
    restarts: int = 8
    """Most restarts."""
    joint: bool = True
    """Whether joint descent runs too."""


def until_the_end(machine: MooreMachine) -> MooreMachine:
    """The machine with its accepting and failed states absorbing: all that episodes can show."""
    table = machine.transitions.copy()
    over = np.flatnonzero(machine.accepting | machine.dead)
    table[over] = over[:, None]
    return MooreMachine.from_table(machine.alphabet, table, machine.accepting, machine.outputs, machine.initial)


def record(machine: MooreMachine, count: int, seed: int) -> EpisodeBuffer:
    buffer = EpisodeBuffer.for_machine(machine)
    for episode in worlds.record_many(machine, count, seed):
        buffer.add(worlds.as_map(episode.cells), rewards=episode.rewards)
    return buffer


def predicted(model: NeuralRewardMachine, episodes: EpisodeBuffer) -> float:
    """The share of episodes whose every level is the most probable one, open loop."""
    batch = episodes.batch()
    with torch.no_grad():
        levels = model.batch_rewards(batch, model.ground(batch.observations)).argmax(-1)
    return float(((levels == batch.levels) | ~batch.mask).all(1).double().mean())


def jointly(
    machine: MooreMachine, episodes: EpisodeBuffer, config: FitConfig
) -> tuple[NeuralRewardMachine, MooreMachine]:
    """Descent on grounder and machine together, five symbols given."""
    torch.manual_seed(config.seed)
    moore = ProbabilisticMoore.unknown(machine.alphabet, 2 * machine.states, machine.levels, seed=config.seed)
    model = NeuralRewardMachine(MlpGrounder(2, 5), moore)
    fit(model, episodes, "both", config)
    return model, extract(model, episodes)


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows: list[list[object]] = []
    for number in config.tasks:
        machine = nrm.compile(nrm.paper_task(number).formula(worlds.SYMBOLS), worlds.SYMBOLS)
        reference = until_the_end(machine)
        same, exact, restarts, seconds = [], [], [], []
        joint_same, joint_exact = [], []
        for seed in range(config.seeds):
            episodes, later = record(machine, config.episodes, seed), record(machine, config.fresh, 1000 + seed)
            settings = FitConfig(epochs=300, restarts=config.restarts, seed=seed)
            started = time.perf_counter()
            found = discover(episodes, 2 * machine.states, settings)
            seconds.append(time.perf_counter() - started)
            same.append(renaming(found.machine, reference) is not None)
            exact.append(predicted(found.model, later))
            restarts.append(len(found.record.attempts))
            if config.joint:
                brief = FitConfig(epochs=300, restarts=min(3, config.restarts), seed=seed)
                model, crisp = jointly(machine, episodes, brief)
                joint_same.append(renaming(crisp, reference) is not None)
                joint_exact.append(predicted(model, later))
        row: list[object] = [
            f"{number} {nrm.paper_task(number).formula()}",
            machine.states,
            f"{sum(same)}/{config.seeds}",
            f"{100 * float(np.mean(exact)):.1f} %",
            float(np.mean(restarts)),
            float(np.mean(seconds)),
        ]
        if config.joint:
            row += [f"{sum(joint_same)}/{config.seeds}", f"{100 * float(np.mean(joint_exact)):.1f} %"]
        rows.append(row)
        print(*row, flush=True)
    headings = ["task", "states", "equivalent", "sequences right", "restarts", "seconds"]
    headings += ["joint: equivalent", "joint: right"] if config.joint else []
    report(f"Pure learning from {config.episodes} random episodes, map world", headings, rows, config.out, "pure")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
