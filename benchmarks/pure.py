"""Pure learning: symbols, grounding and machine, from observations and rewards of random episodes alone.

`discover` learns each task of the map environment from scratch. AALpy's RPNI and EDSM read the same episodes, with
every observation as a letter, and once more without the letters at which the potential never changes. Shown: how
often the machine is equivalent to the task's over observations, and seconds. Episodes end when the task is done or
failed, so none shows what comes after: the task's machine is compared with its accepting and failed states made
absorbing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from aalpy.learning_algs import run_EDSM, run_RPNI

import nrm
from benchmarks import envs
from benchmarks.common import report
from nrm import MooreMachine
from nrm.machines import Alphabet, LevelCodec, equivalent, until_over
from nrm.neural import EpisodeBuffer, FitConfig, discover, renaming

Traces = list[tuple[list[int], list[float]]]
MAX_WITH_IDLE = 240
"""Episodes up to which AALpy reads every step: beyond it takes minutes an episode file."""


@dataclass(frozen=True)
class Config:
    """Learn everything."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Which of the paper's tasks."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 100
    """The first of them."""
    episodes: tuple[int, ...] = (240, 1000)
    """How many episodes are learned from."""
    references: bool = True
    """Whether AALpy reads the episodes too."""
    idle: bool = True
    """Whether it reads them with idle letters as well, which takes long."""


def merge(algorithm: Callable[..., Any], machine: MooreMachine, traces: Traces) -> MooreMachine | None:
    """A machine by state merging in AALpy, from every prefix; unseen transitions become self-loops, as on our side."""
    initial = float(machine.outputs[machine.initial])
    prefixes = {tuple(letters[: n + 1]): outputs[n] for letters, outputs in traces for n in range(len(letters))}
    data = [((), initial), *prefixes.items()]
    learned = algorithm(data, automaton_type="moore", input_completeness="self_loop", print_info=False)
    if learned is None:
        return None
    numbers = {state: number for number, state in enumerate(learned.states)}
    letters = range(machine.alphabet.size)
    # A letter that occurs in no trace is unknown to AALpy.
    table = [[numbers[state.transitions.get(letter, state)] for letter in letters] for state in learned.states]
    outputs = np.array([float(state.output) for state in learned.states])
    return MooreMachine.from_table(
        machine.alphabet, table, outputs == machine.levels.max(), outputs, numbers[learned.initial_state]
    )


def over_cells(machine: MooreMachine) -> MooreMachine:
    """The same over the sixteen cells in place of symbols."""
    cells = Alphabet.exclusive(f"o{number}" for number in range(envs.SIDE**2))
    labels = np.empty(cells.size, dtype=np.int64)
    for (x, y), symbol in zip(envs.all_cells(), envs.true_symbols(), strict=True):
        labels[x + envs.SIDE * y] = symbol
    table = machine.transitions[:, labels]
    return MooreMachine.from_table(cells, table, machine.accepting, machine.outputs, machine.initial)


def as_traces(machine: MooreMachine, recorded: list[envs.Recording], drop_idle: bool) -> Traces:
    """Cells and potentials; without the cells at which the potential never changes, if asked."""
    initial = float(machine.outputs[machine.initial])
    traces = []
    active: set[int] = set()
    for episode in recorded:
        cells = (episode.cells[:, 0] + envs.SIDE * episode.cells[:, 1]).tolist()
        levels = machine.levels[LevelCodec.of(machine).encode(episode.rewards)].tolist()
        before = [initial, *levels[:-1]]
        active |= {cell for cell, one, two in zip(cells, before, levels, strict=True) if one != two}
        traces.append((cells, levels))
    if not drop_idle:
        return traces
    kept = []
    for cells, levels in traces:
        rows = [place for place, cell in enumerate(cells) if cell in active]
        kept.append(([cells[place] for place in rows], [levels[place] for place in rows]))
    return kept


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows: list[list[object]] = []
    mergers: dict[str, tuple[Callable[..., Any], bool]] = {
        "RPNI": (run_RPNI, False),
        "RPNI, no idle": (run_RPNI, True),
        "EDSM": (run_EDSM, False),
        "EDSM, no idle": (run_EDSM, True),
    }
    if not config.idle:
        mergers = {name: merger for name, merger in mergers.items() if merger[1]}
    for number in config.tasks:
        machine = nrm.compile(nrm.logic.paper_task(number).formula(envs.SYMBOLS), envs.SYMBOLS)
        truth, cells = until_over(machine), over_cells(until_over(machine))
        for count in config.episodes:
            able = [name for name, (_, drops) in mergers.items() if drops or count <= MAX_WITH_IDLE]
            names = ["discover", *(able if config.references else ())]
            right, seconds = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
            merging, explained = 0.0, 0.0
            for seed in range(config.first_seed, config.first_seed + config.seeds):
                recorded = envs.record_many(machine, count, seed)
                buffer = EpisodeBuffer.for_machine(machine)
                for episode in recorded:
                    buffer.add(envs.as_map(episode.cells), rewards=episode.rewards)
                began = time.process_time()
                found = discover(buffer, 2 * machine.states, FitConfig(seed=seed))
                seconds["discover"] += (time.process_time() - began) / config.seeds
                merging += found.inferred.seconds / config.seeds
                explained += (found.inferred.held_out or 0.0) / config.seeds
                right["discover"] += renaming(found.machine, truth) is not None
                for name in names[1:]:
                    algorithm, drops = mergers[name]
                    traces = as_traces(machine, recorded, drops)
                    began = time.process_time()
                    learned = merge(algorithm, cells, traces)
                    seconds[name] += (time.process_time() - began) / config.seeds
                    right[name] += learned is not None and equivalent(learned, cells, acceptance=False)
            row: list[object] = [f"{number} {nrm.logic.paper_task(number).formula()}", count]
            row += [f"{right['discover']}/{config.seeds}", f"{100 * explained:.1f} %", seconds["discover"], merging]
            for name in mergers if config.references else ():
                row += [f"{right[name]}/{config.seeds}", seconds[name]] if name in names else ["-", "-"]
            rows.append(row)
            print(*row, flush=True)
    headings = ["task", "episodes", "equivalent", "held out", "s", "merging s"]
    for name in mergers if config.references else ():
        headings += [name, "s"]
    report("Pure learning from random episodes, map environment", headings, rows, config.out, "pure")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
