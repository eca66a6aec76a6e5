"""Inference as in JIRP (Xu et al., 2020), with true symbols: the smallest machine that explains all counterexamples.

Episodes of the map environment come one after the other. One that the present machine does not explain is a
counterexample; the next machine is a smallest one that explains all of these, by exact search (JIRP asks a SAT
solver, for one number of states after the other). All symbols count at every step: nothing is dropped. Beside it our
engine on the same episodes, learned anew at the same counterexamples. Shown: how often the machine is the task's
after all episodes, until that is done or lost; counterexamples; CPU seconds. A search that joins more than a budget
of nodes counts as failed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

import nrm
from benchmarks import envs
from benchmarks.common import report
from nrm import MooreMachine
from nrm.inference import UNSEEN, Episode, Evidence, Hypothesis, fewer_states, learn_machine, prefix_tree
from nrm.machines import LevelCodec, equivalent, until_over


@dataclass(frozen=True)
class Config:
    """Compare with JIRP."""

    out: Path = Path("out/bench")
    """Where the table goes."""
    tasks: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    """Which of the paper's tasks."""
    seeds: int = 5
    """How many seeds."""
    first_seed: int = 850
    """The first of them."""
    episodes: int = 240
    """How many episodes come."""
    states: int = 10
    """Most states of a machine."""
    budget: int = 300_000
    """Pairs of nodes that an exact search may join for one number of states."""


class GaveUpError(Exception):
    """The search ended without an answer."""


def smallest(evidence: Evidence, config: Config) -> Hypothesis:
    """A smallest machine over all letters that explains the episodes; open transitions stay where they are."""
    letters = tuple(range(evidence.letter_count))
    tree = prefix_tree(evidence, letters)
    for states in range(1, config.states + 1):
        found = fewer_states(tree, states, config.budget)
        if found is not None:
            here = np.arange(found.states)[:, None]
            table = np.where(found.table == UNSEEN, here, found.table)
            return Hypothesis(table, found.levels, np.zeros_like(table), np.zeros(len(letters), dtype=np.int64))
    raise GaveUpError


def inferred(
    traces: list[Episode], learn: Callable[[list[Episode]], Hypothesis], blank: Hypothesis, whole: bool
) -> tuple[Hypothesis, int]:
    """The machine after all episodes, and how many refuted one. It is learned from these, or from the whole past."""
    known, refuting = blank, list[Episode]()
    for place, trace in enumerate(traces):
        state = 0
        for letter, level in zip(trace.seen.tolist(), trace.levels.tolist(), strict=True):
            state = int(known.table[state, letter])
            if int(known.levels[state]) != level:
                refuting.append(trace)
                known = learn(traces[: place + 1] if whole else refuting)
                break
    return known, len(refuting)


def row(number: int, config: Config) -> list[object]:
    """What became of a task."""
    machine: MooreMachine = nrm.compile(nrm.logic.paper_task(number).formula(envs.SYMBOLS), envs.SYMBOLS)
    truth, codec = until_over(machine), LevelCodec.of(machine)
    initial = int(codec.nearest(np.float64(codec.initial or 0.0)))
    size, levels = machine.alphabet.size, len(machine.levels)
    learners: dict[str, Callable[[list[Episode]], Hypothesis]] = {
        "JIRP": lambda traces: smallest(Evidence.of(traces, size, levels, initial), config),
        "ours": lambda traces: learn_machine(Evidence.of(traces, size, levels, initial), config.states),
    }
    line: list[object] = [f"{number} {nrm.logic.paper_task(number).formula()}", truth.states]
    for name, learn in learners.items():
        right, seconds, refuted, failed = 0, list[float](), list[int](), 0
        for seed in range(config.first_seed, config.first_seed + config.seeds):
            recorded = envs.record_many(machine, config.episodes, seed)
            traces = [Episode(one.symbols, codec.encode(one.rewards)) for one in recorded]
            began = time.process_time()
            try:
                found, count = inferred(traces, learn, Hypothesis.blank(size, initial), name == "ours")
            except GaveUpError:
                failed += 1
            else:
                refuted.append(count)
                right += equivalent(found.machine(machine.levels, machine.alphabet.symbols), truth, acceptance=False)
            seconds.append(time.process_time() - began)
        note = f" ({failed} gave up)" if failed else ""
        middle = float(np.median(refuted)) if refuted else float("nan")
        line += [f"{right}/{config.seeds}{note}", middle, float(np.mean(seconds))]
    return line


def main(config: Config) -> None:
    rows = []
    for number in config.tasks:
        rows.append(row(number, config))
        print(*rows[-1], flush=True)
    headings = ["task", "states", "JIRP", "counterexamples", "s", "ours", "counterexamples", "s"]
    title = f"Inference with true symbols, {config.episodes} episodes one after the other"
    report(title, headings, rows, config.out, "jirp")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
