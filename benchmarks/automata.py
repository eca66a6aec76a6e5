"""Learning the machine with a known grounder, beside the state-merging learners of AALpy, on the same traces.

For each of the paper's tasks, random traces over the five symbols with the level after each step are recorded, and a
machine with twice the needed states is learned by gradient descent; AALpy's RPNI and EDSM (for Moore machines) read the
same traces. A run counts when the machine is *equivalent* to the task's: the same level after every trace.
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
from benchmarks.common import report
from nrm import MooreMachine
from nrm.neural import (
    EpisodeBuffer,
    FitConfig,
    NeuralRewardMachine,
    ProbabilisticMoore,
    TrueLabels,
    compare,
    extract,
    fit,
)

Traces = list[tuple[list[int], list[float]]]


@dataclass(frozen=True)
class Config:
    """Compare learners of machines."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Which of the paper's tasks."""
    traces: tuple[int, ...] = (10, 20, 40, 80, 300)
    """Numbers of traces to learn from."""
    length: int = 12
    """Steps of a trace."""
    seeds: int = 5
    """How many seeds."""
    restarts: int = 32
    """Most restarts of gradient descent."""


def record(machine: MooreMachine, count: int, length: int, seed: int) -> Traces:
    generator = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        letters = generator.integers(machine.alphabet.size, size=length).tolist()
        result.append((letters, list(machine.run(machine.alphabet.decode(letters)).outputs[1:])))
    return result


def descend(machine: MooreMachine, traces: Traces, seed: int, restarts: int) -> MooreMachine:
    """Gradient descent on transitions and rewards, extracted and merged."""
    buffer = EpisodeBuffer.for_machine(machine)
    for letters, outputs in traces:
        buffer.add(letters, levels=np.searchsorted(machine.levels, outputs))
    moore = ProbabilisticMoore.unknown(machine.alphabet, 2 * machine.states, machine.levels, seed=seed)
    model = NeuralRewardMachine(TrueLabels(machine.alphabet.size), moore)
    fit(model, buffer, "machine", FitConfig(epochs=300, restarts=restarts, seed=seed))
    return extract(model, buffer)


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


def main(config: Config) -> None:
    torch.set_num_threads(1)
    rows: list[list[object]] = []
    for number in config.tasks:
        machine = nrm.machines.minimise(
            nrm.compile(nrm.logic.paper_task(number).formula(), nrm.logic.PAPER_SYMBOLS), by="outputs"
        )
        for count in config.traces:
            solved = {"descent": 0, "RPNI": 0, "EDSM": 0}
            seconds = dict.fromkeys(solved, 0.0)
            for seed in range(config.seeds):
                traces = record(machine, count, config.length, seed)
                learners: dict[str, Callable[[], MooreMachine | None]] = {
                    "descent": lambda: descend(machine, traces, seed, config.restarts),  # noqa: B023 - called at once
                    "RPNI": lambda: merge(run_RPNI, machine, traces),  # noqa: B023
                    "EDSM": lambda: merge(run_EDSM, machine, traces),  # noqa: B023
                }
                for name, learn in learners.items():
                    started = time.perf_counter()
                    found = learn()
                    seconds[name] += (time.perf_counter() - started) / config.seeds
                    solved[name] += found is not None and compare(found, machine).equivalent
            row: list[object] = [f"{number} {nrm.logic.paper_task(number).formula()}", machine.states, count]
            row += [f"{solved[name]}/{config.seeds}" for name in solved]
            row += [seconds["descent"], seconds["descent"] / max(min(seconds["RPNI"], seconds["EDSM"]), 1e-9)]
            rows.append(row)
            print(*row, flush=True)
    headings = ["task", "states", "traces", "descent", "RPNI", "EDSM", "descent s", "descent/fastest merger"]
    report(f"Machines recovered, traces of {config.length} steps", headings, rows, config.out, "automata")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
