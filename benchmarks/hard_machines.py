"""Machines that are hard to learn: wrong potentials, wrong symbols, and moves that change no potential at once.

Random episodes of the map environment; every cell is a letter, but where symbols are told wrongly, which is then the
share of steps that is wrong. Shown is how often the machine is the task's until this is done or lost, with the states
found, and CPU seconds. Where something is wrong, episodes also come one after the other, as they do to an agent, and
the machine is learned anew whenever counts refute it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro

import nrm
from benchmarks import envs
from benchmarks.common import report
from benchmarks.pure import over_cells
from nrm import MooreMachine
from nrm.errors import NrmError
from nrm.inference import Episode, Evidence, learn_machine
from nrm.machines import Alphabet, LevelCodec, equivalent, until_over
from nrm.tracking import InferenceConfig, MachineLearning, ObservedSymbols, RecordedEpisode

SIDE_BY_SIDE = 8
"""Episodes that come together."""


@dataclass(frozen=True)
class Config:
    """Learn hard machines."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 100
    """The first of them."""
    episodes: tuple[int, ...] = (240, 1000)
    """How many episodes are learned from."""
    reward_noise: float = 0.05
    """The share of steps that show a wrong potential, of the paper's tasks; 0: these are not made."""
    label_noise: tuple[float, ...] = (0.02,)
    """Shares of steps whose told symbol is wrong, of the paper's tasks once more."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Which of the paper's tasks."""
    in_loop: bool = True
    """Whether episodes also come one after the other, as many as are learned from at most."""
    hidden: bool = True
    """Whether tasks are learned, too, some of whose moves change no potential at once."""


def counter() -> MooreMachine:
    """Visits of the pickaxe modulo 3; the potential tells only when they are 2 of 3."""
    table = np.repeat(np.arange(3)[:, None], len(envs.SYMBOLS), 1)
    table[:, 0] = (1, 2, 0)
    levels = np.array([0.0, 0.0, 100.0])
    return MooreMachine.from_table(Alphabet.exclusive(envs.SYMBOLS), table, np.zeros(3, dtype=bool), levels)


def traces(machine: MooreMachine, count: int, seed: int, reward_noise: float) -> list[Episode]:
    """Cells and potentials, some of them wrong."""
    codec, generator, size = LevelCodec.of(machine), np.random.default_rng(seed), len(machine.levels)
    result = []
    for episode in envs.record_many(machine, count, seed):
        levels = codec.encode(episode.rewards)
        other = (levels + generator.integers(1, max(2, size), len(levels))) % size
        shown = np.where(generator.random(len(levels)) < reward_noise, other, levels)
        result.append(Episode(episode.cells[:, 0] + envs.SIDE * episode.cells[:, 1], shown))
    return result


def rows_of(
    name: str, machine: MooreMachine, count: int, config: Config, reward_noise: float, models: tuple[float, ...]
) -> list[list[object]]:
    """What was found over all seeds, for each noise model: the probability of a wrong potential that is assumed."""
    truth = over_cells(until_over(machine))
    codec = LevelCodec.of(machine)
    right, seconds = dict.fromkeys(models, 0), dict.fromkeys(models, 0.0)
    states: dict[float, list[str]] = {model: [] for model in models}
    for seed in range(config.first_seed, config.first_seed + config.seeds):
        read = traces(machine, count, seed, reward_noise)
        initial = int(codec.nearest(np.float64(codec.initial or 0.0)))
        for model in models:
            began = time.process_time()
            try:
                found = learn_machine(Evidence.of(read, truth.alphabet.size, len(machine.levels), initial, model), 16)
                states[model].append(str(found.states))
                right[model] += equivalent(
                    found.machine(machine.levels, truth.alphabet.symbols), truth, acceptance=False
                )
            except NrmError as error:
                states[model].append(type(error).__name__.removesuffix("Error"))
            seconds[model] += (time.process_time() - began) / config.seeds
    head = [name, truth.states, count, reward_noise]
    return [
        [*head, model, f"{right[model]}/{config.seeds}", ", ".join(states[model]), seconds[model]] for model in models
    ]


def misread_traces(machine: MooreMachine, count: int, seed: int, label_noise: float) -> list[Episode]:
    """Symbols, some of them wrong, and potentials."""
    codec, generator, size = LevelCodec.of(machine), np.random.default_rng(seed), machine.alphabet.size
    result = []
    for episode in envs.record_many(machine, count, seed):
        wrong = generator.random(len(episode.symbols)) < label_noise
        other = (episode.symbols + generator.integers(1, size, len(wrong))) % size
        result.append(Episode(np.where(wrong, other, episode.symbols), codec.encode(episode.rewards)))
    return result


def row_misread(name: str, machine: MooreMachine, count: int, config: Config, label_noise: float) -> list[object]:
    """What is found where symbols are told and sometimes wrong."""
    truth, codec = until_over(machine), LevelCodec.of(machine)
    initial, size = int(codec.nearest(np.float64(codec.initial or 0.0))), machine.alphabet.size
    right, seconds, states = 0, 0.0, list[str]()
    for seed in range(config.first_seed, config.first_seed + config.seeds):
        read = misread_traces(machine, count, seed, label_noise)
        began = time.process_time()
        try:
            found = learn_machine(Evidence.of(read, size, len(machine.levels), initial, label_noise=label_noise), 16)
            states.append(str(found.states))
            right += equivalent(found.machine(machine.levels, truth.alphabet.symbols), truth, acceptance=False)
        except NrmError as error:
            states.append(type(error).__name__.removesuffix("Error"))
        seconds += (time.process_time() - began) / config.seeds
    head = [f"{name}, wrong symbols", truth.states, count, label_noise, label_noise]
    return [*head, f"{right}/{config.seeds}", ", ".join(states), seconds]


def row_in_loop(name: str, machine: MooreMachine, count: int, config: Config, label_noise: float = 0.0) -> list[object]:
    """The same with episodes that come eight at a time, and how often a machine was learned that differed.

    Potentials are wrong, or symbols with a probability `label_noise`.
    """
    truth = until_over(machine) if label_noise else over_cells(until_over(machine))
    settings = (
        InferenceConfig(label_noise=label_noise) if label_noise else InferenceConfig(reward_noise=config.reward_noise)
    )
    right, seconds, versions, states = 0, 0.0, list[int](), list[str]()
    for seed in range(config.first_seed, config.first_seed + config.seeds):
        learning = MachineLearning(ObservedSymbols(torch.arange(truth.alphabet.size)[:, None]), settings)
        read = (
            misread_traces(machine, count, seed, label_noise)
            if label_noise
            else traces(machine, count, seed, config.reward_noise)
        )
        episodes = [as_recorded(trace, machine) for trace in read]
        began = time.process_time()
        for start in range(0, count, SIDE_BY_SIDE):
            learning.add(episodes[start : start + SIDE_BY_SIDE])
        seconds += (time.process_time() - began) / config.seeds
        known = learning.hypothesis
        names = truth.alphabet.symbols[: known.letters]
        codec = LevelCodec.of(machine)
        values = codec.levels[codec.nearest(learning.levels.values + float(machine.outputs[machine.initial]))]
        if len(names) == truth.alphabet.size:
            right += equivalent(known.machine(values, names), truth, acceptance=False)
        states.append(str(known.states))
        versions.append(len(learning.versions))
    name += ", wrong symbols" if label_noise else ""
    head = [
        f"{name}, one after the other",
        truth.states,
        count,
        label_noise or config.reward_noise,
        label_noise or config.reward_noise,
    ]
    return [*head, f"{right}/{config.seeds}", f"{', '.join(states)} ({max(versions)} machines)", seconds]


def as_recorded(trace: Episode, machine: MooreMachine) -> RecordedEpisode:
    """An episode as a recorder gives it: the potentials' differences are its rewards."""
    levels = machine.levels[trace.levels]
    rewards = np.diff(levels, prepend=float(machine.outputs[machine.initial]))
    return RecordedEpisode(0, float(rewards.sum()), len(rewards), trace.seen, rewards, None)


def hidden() -> dict[str, MooreMachine]:
    """Tasks some of whose moves change no potential at once."""
    return {
        "F(a & X F a)": nrm.compile("F(pickaxe & X F pickaxe)", envs.SYMBOLS),
        "F(a & X F a), paid at the end": nrm.compile("F(pickaxe & X F pickaxe)", envs.SYMBOLS, reward="acceptance"),
        "F(a & F b), paid at the end": nrm.compile("F(pickaxe & F gem)", envs.SYMBOLS, reward="acceptance"),
        "alternate_response(a, b), three values": nrm.compile(
            "alternate_response(pickaxe, gem) & F lava", envs.SYMBOLS, reward="three_value"
        ),
        "a counter modulo 3": counter(),
    }


def all_rows(config: Config) -> Iterator[list[object]]:
    """Every row of the table."""
    for count in config.episodes:
        for number in config.tasks:
            machine = nrm.compile(nrm.logic.paper_task(number).formula(envs.SYMBOLS), envs.SYMBOLS)
            loop = config.in_loop and count == max(config.episodes)
            if config.reward_noise:
                yield from rows_of(str(number), machine, count, config, config.reward_noise, (config.reward_noise, 0.0))
                if loop:
                    yield row_in_loop(str(number), machine, count, config)
            for label_noise in config.label_noise:
                yield row_misread(str(number), machine, count, config, label_noise)
                if loop:
                    yield row_in_loop(str(number), machine, count, config, label_noise)
        for name, machine in hidden().items() if config.hidden else ():
            yield from rows_of(name, machine, count, config, 0.0, (0.0,))


def main(config: Config) -> None:
    rows = []
    for line in all_rows(config):
        rows.append(line)
        print(*line, flush=True)
    headings = ["task", "states", "episodes", "wrong", "assumed", "right", "states found", "s"]
    report("Machines that are hard to learn, map environment", headings, rows, config.out, "hard_machines")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
