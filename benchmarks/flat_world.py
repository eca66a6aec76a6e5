"""One agent for every task in FlatWorld, tested zero-shot on formulas that nothing was chosen on.

    python -m benchmarks.flat_world --tasks-file flat-tasks.txt --methods nrm rm --seeds 4000 4001 4002

Four sets of formulas are reported: the five that DeepLTL's authors publish figures for, their list of tasks (a file
with a formula a line), and two times 20 random ones. Settings are chosen on 40 others (`benchmarks.flat_tuning`). No
training task is one of them, or a copy of one with other colours. Tests sample actions, begin anywhere outside of
discs, and read no reward. *Possible* is the share of starts from which a planner that knows the environment succeeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import processor_seconds
from benchmarks.flat_planning import least_steps
from benchmarks.results import TESTSETS, Benchmark, Headline, Row, complete
from benchmarks.unseen import outcomes
from nrm.agents import Trainer
from nrm.envs import TaskSpace
from nrm.envs.counter_rng import environment_seeds, episode_keys, words
from nrm.envs.plane import FLAT
from nrm.envs.plane.env import PlaneDynamics
from nrm.machines import TaskSet, as_machine
from nrm.runs import RunConfig, choose_run
from nrm.runs.sections import Changes
from nrm.samplers import Mixture, Sampler, TemplateSampler, sample_tasks

PUBLISHED = (
    "F ((red & magenta) & F ((blue & green) & F yellow))",
    "F (orange & (!red U magenta))",
    "(!red U (green & blue & aqua)) & F (orange & (F (red & magenta)))",
    "((!yellow & !orange) U (green & blue)) & (!green U magenta)",
    "(blue -> F magenta) U (yellow | ((green & blue) & F orange))",
)
DEEP_LTL = (1.000, 0.999, 0.978, 0.860, 0.996)
"""As published for these, with true symbols, after 15 million frames."""
RANDOM: dict[str, Sampler] = {
    "random": Mixture(("reach", "reach-avoid", "until", "conjunctions", "resettable", "branching")),
    "nests": TemplateSampler("until", max_parts=1, max_steps=2),
}
"""Task distributions of random formulas: the kinds that the published ones are of, and `!a U (b & (!c U d))`."""
SETS = ("published", "listed", *RANDOM)
RANDOM_FORMULAS = 20
TUNING_SEED, FRESH_SEED = 1, 2
MAX_STATES, MIN_STATES = 12, {"random": 3, "nests": 4}
"""Of random formulas. With fewer states there is nothing to lose, or nothing but one step."""
STARTS = 1000
"""Starts over which it is computed what is possible."""


@cache
def space() -> TaskSpace:
    """What tasks in FlatWorld speak of."""
    return FLAT.task_space()


@cache
def tuning_formulas(name: str) -> tuple[str, ...]:
    """Random formulas to choose settings on: no copies of the published ones."""
    return _sampled(name, TUNING_SEED, PUBLISHED)


@cache
def fresh_formulas(name: str) -> tuple[str, ...]:
    """Random formulas to report: no copies of the published ones, nor of those for choosing."""
    chosen_on = (formula for other in RANDOM for formula in tuning_formulas(other))
    return _sampled(name, FRESH_SEED, (*PUBLISHED, *chosen_on))


def _sampled(name: str, seed: int, without: tuple[str, ...]) -> tuple[str, ...]:
    alphabet, events = space()
    options: dict[str, Any] = {"events": events, "max_states": MAX_STATES, "up_to_renaming": True}
    found = sample_tasks(RANDOM[name], alphabet, 4 * RANDOM_FORMULAS, seed, without=without, **options)
    named = zip(found.machines, found.names, strict=True)
    return tuple(formula for machine, formula in named if machine.states >= MIN_STATES[name])[:RANDOM_FORMULAS]


@cache
def possible(formula: str) -> float:
    """The share of starts from which the formula can be satisfied within the step limit."""
    keys = episode_keys(words(environment_seeds(0, STARTS)), np.zeros(STARTS, dtype=np.int64))
    machine = as_machine(formula, space().alphabet)
    return float((least_steps(FLAT, machine, PlaneDynamics(FLAT).begin(keys)["place"]) > 0).mean())


def configured(
    method: str, actions: str, seed: int, frames: int, held_out: tuple[str, ...], changes: Changes
) -> RunConfig:
    """A run whose training tasks are no copies of formulas that are held out."""
    settings: dict[str, dict[str, Any]] = {name: dict(values) for name, values in changes.items()}
    settings.setdefault("env", {})["actions"] = actions
    settings.setdefault("tasks", {}).update(held_out=list(held_out), up_to_renaming=True)
    return choose_run(None, "flat", method, seed, tasks="mixture", total_timesteps=frames, settings=settings)


def trained(config: RunConfig) -> tuple[Trainer, float]:
    """The agent at the end of training, and the CPU seconds that it took."""
    began = processor_seconds()
    trainer = config.build_trainer()
    trainer.run()
    return trainer, processor_seconds() - began


def scores(config: RunConfig, trainer: Trainer, formulas: tuple[str, ...], episodes: int, seed: int) -> list[Any]:
    """Of each formula: itself, success, what is possible, and the mean steps of successful episodes."""
    pool = TaskSet(tuple(as_machine(formula, config.alphabet) for formula in formulas), formulas)
    found = outcomes(config, trainer, pool, episodes, seed)
    return [(name, one.success, possible(name), one.steps) for name, one in zip(formulas, found, strict=True)]


def run(method: str, actions: str, seed: int, frames: int, episodes: int, listed: tuple[str, ...]) -> dict[str, Any]:
    """One row: an agent on the three sets of formulas."""
    sets = {"published": PUBLISHED, "listed": listed, **{name: fresh_formulas(name) for name in RANDOM}}
    held_out = tuple(dict.fromkeys(formula for formulas in sets.values() for formula in formulas))
    config = configured(method, actions, seed, frames, held_out, {})
    trainer, cpu = trained(config)
    row = {"method": method, "actions": actions, "seed": seed, "frames": trainer.steps, "cpu_seconds": cpu}
    accuracy = trainer.accuracy()
    row["named"] = None if accuracy is None else accuracy.plain
    formulas = {}
    for name, chosen in sets.items():
        if chosen:
            formulas[name] = scores(config, trainer, chosen, episodes, 90_000 + 100 * seed)
            row[name] = np.mean([success for _, success, _, _ in formulas[name]])
            row[f"{name}_worst"] = min(success for _, success, _, _ in formulas[name])
    return {**row, "formulas": formulas}


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: a row for each method and kind of actions; the mean over seeds, and the worst seed, of each set."""
    lines = ["| | seeds | frames | CPU s | " + " | ".join(SETS) + " |", "| --- |" + " ---: |" * 7]
    for kind in dict.fromkeys((row["method"], row["actions"]) for row in rows):
        mine = [row for row in rows if (row["method"], row["actions"]) == kind]
        numbers = [[row[name] for row in mine if row.get(name) is not None] for name in SETS]
        cells = [f"{np.mean(values):.4f} ({min(values):.3f})" if values else "" for values in numbers]
        frames, cpu = (np.mean([row[name] for row in mine]) for name in ("frames", "cpu_seconds"))
        lines.append(
            f"| {kind[0].upper()}, {kind[1]} | {len(mine)} | {frames:,.0f} | {cpu:.0f} | {' | '.join(cells)} |"
        )
    return "\n".join(lines)


def by_formula(rows: list[dict[str, Any]]) -> str:
    """Markdown: success on each formula, the mean over seeds of each method and kind of actions."""
    kinds = list(dict.fromkeys((row["method"], row["actions"]) for row in rows))
    found: dict[tuple[str, str, float], dict[Any, list[float]]] = {}
    for row in rows:
        for name, tests in row["formulas"].items():
            for formula, success, can, _ in tests:
                cells = found.setdefault((name, formula, can), {})
                cells.setdefault((row["method"], row["actions"]), []).append(success)
    lines = ["| | formula | possible |" + "".join(f" {method.upper()}, {how} |" for method, how in kinds)]
    lines.append("| --- | --- | ---: |" + " ---: |" * len(kinds))
    for (name, formula, can), cells in found.items():
        values = [f"{np.mean(cells[kind]):.3f} ({min(cells[kind]):.2f})" if kind in cells else "" for kind in kinds]
        text = formula.replace("|", "\\|")
        lines.append(f"| {name} | `{text}` | {can:.3f} | {' | '.join(values)} |")
    return "\n".join(lines)


def jobs(
    seeds: Sequence[int],
    tasks_file: Path | None = None if TESTSETS is None else Path(TESTSETS) / "flat-tasks.txt",
    methods: Sequence[str] = ("nrm", "rm"),
    actions: Sequence[str] = ("discrete", "continuous"),
    frames: int = 4_000_000,
    episodes: int = 500,
) -> dict[str, tuple[Any, ...]]:
    """A run of every seed, kind of actions and method; with the published list of tasks, where it is at hand."""
    lines = [] if tasks_file is None else tasks_file.read_text().splitlines()
    listed = tuple(line.strip() for line in lines if line.strip())
    return {
        f"{method}-{how}-{seed}-{frames}-{episodes}-{len(listed)}": (method, how, seed, frames, episodes, listed)
        for seed, how, method in product(seeds, actions, methods)
    }


def means(rows: Sequence[Row]) -> dict[str, float]:
    """Success on each formula, by its set and number: what is possible, the mean over seeds and the worst seed."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for name, tests in row["formulas"].items():
            for number, (_, success, can, _) in enumerate(tests, 1):
                found.setdefault(f"{row['method']} {row['actions']}, {name} {number}", []).append(success)
                found[f"possible, {name} {number}"] = [can]
    return {name: float(np.mean(values)) for name, values in found.items()} | {
        f"{name}, worst seed": min(values) for name, values in found.items() if not name.startswith("possible")
    }


COMMAND = "NRM_TESTSETS=FOLDER python -m benchmarks.headline flat-world"
HEADLINE = Headline(
    "flat-world", COMMAND, (*SETS, "named", "frames", "cpu_seconds"), by=("method", "actions"), derived=means
)
BENCHMARKS = {"flat-world": Benchmark(HEADLINE, jobs, run)}


def main() -> None:
    """Run what is not done yet, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks-file", type=Path, help="the published list of tasks, a formula a line")
    parser.add_argument("--methods", nargs="+", default=["nrm", "rm"])
    parser.add_argument("--actions", nargs="+", default=["discrete", "continuous"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[4000, 4001, 4002, 4003, 4004])
    parser.add_argument("--frames", type=int, default=4_000_000)
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--workers", type=int, default=1)
    options = vars(parser.parse_args())
    workers = options.pop("workers")
    rows = complete(HEADLINE, jobs(**options), run, workers)["rows"]
    print(table(rows), by_formula(rows), sep="\n\n")


if __name__ == "__main__":
    main()
