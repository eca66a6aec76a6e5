"""One agent for every task in LetterWorld: trained on random tasks, tested on unseen formulas.

    python -m benchmarks.letter_world --methods nrm rm --maps MAPS.json --tasks-file TASKS.txt

The five formulas are those that DeepLTL's authors publish figures for (15 million frames, true symbols). MAPS and TASKS
are test sets such as theirs: grids as of the setting `env.maps`, and a formula a line. No test formula is trained on,
nor any task that a permutation of the letters makes equal to one (held out: renamed), or no equal one alone (equal).
Actions are sampled, grids are fresh, and no reward is read. The results file has one row a run, and runs that it has
are not repeated. `python -m benchmarks.headline letter-world` does the same without the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from benchmarks.results import RESULTS, TESTSETS, Benchmark, Headline, Row, complete
from benchmarks.unseen import Tested, curve, outcomes
from nrm.agents import EDGES, Trainer, by_size, evaluate
from nrm.machines import TaskSet
from nrm.runs import RunConfig, choose_run
from nrm.samplers import Listed, TemplateSampler, sample_tasks

FORMULAS = (
    "F (a & (!b U c)) & F d",
    "(F d) & (!f U (d & F b))",
    "(F ((a | c | j) & F b)) & (F (c & F d)) & F k",
    "!a U (b & (!c U (d & (!e U f))))",
    "((a | b | c | d) -> F (e & (F (f & F g)))) U (h & F i)",
)
PATTERNS = ("F (a & F (b & F c))", "F (a & F (b & F a))", "!a U (b & (!c U d))")
"""What the 25 tasks are copies of that they publish besides."""
PUBLISHED = {
    "DeepLTL": (0.999, 0.982, 1.000, 0.969, 0.997),
    "GCRL-LTL": (0.937, 0.935, 0.998, 0.816, 0.998),
    "LTL2Action": (0.754, 0.794, 0.406, 0.715, 0.441),
}
"""As published, with true symbols, after 15 million frames."""


LONGER = {
    "reach 12": TemplateSampler("reach", 12, 12, max_choices=1),
    "reach and avoid 6": TemplateSampler("reach-avoid", 6, 6, max_choices=1, max_avoided=1),
}
"""Families of tasks that are longer than those of training."""
SCORES = ("formulas", "tasks", "formulas on maps", "tasks on maps", *LONGER)
"""Success, the mean over formulas: the five, those of a file, both on the maps of a file, and longer ones."""


TUNED: dict[str, tuple[int | None, dict[str, Any]]] = {
    "rnn": (64, {"algorithm": {"update_epochs": 3, "minibatch_size": 512}})
}
"""Environments and settings of a method where they are not the defaults; see `benchmarks.rnn_tuning`."""


@dataclass(frozen=True)
class Config:
    """Train and test."""

    methods: tuple[str, ...] = ("nrm", "rm")
    """What is compared."""
    seeds: tuple[int, ...] = (4000, 4001, 4002, 4003, 4004)
    """Seeds of training; settings were chosen on others."""
    held_out: tuple[str, ...] = ("renamed", "equal")
    """What is not trained on: copies of test formulas with other letters (renamed), or equal tasks alone (equal)."""
    steps: int = 1_000_000
    """Frames of a run."""
    every: int = 50_000
    """Frames between tests."""
    episodes: int = 500
    """Episodes of each formula at the end."""
    random: int = 10_000
    """Episodes of a thousand random formulas; 0 for none."""
    env: str = "letter"
    """Or letter-image."""
    maps: str | None = None if TESTSETS is None else f"{TESTSETS}/letter-maps.json"
    """A file of grids to test on as well."""
    tasks_file: str | None = None if TESTSETS is None else f"{TESTSETS}/letter-tasks.txt"
    """A file of formulas to test as well; they are held out too."""
    workers: int = 1
    """Runs side by side."""
    out: Path = RESULTS
    """The folder of the results file."""
    figure: Path | None = None
    """Draw success against frames here."""

    @property
    def more(self) -> tuple[str, ...]:
        """The formulas of the file."""
        return tuple(str(one.formula) for one in Listed(self.tasks_file).formulas) if self.tasks_file else ()

    @property
    def tests(self) -> str:
        """What is tested besides, and how often, for the keys of rows."""
        files = f"{'-maps' if self.maps else ''}{f'-{len(self.more)}-tasks' if self.more else ''}"
        return f"{self.episodes}-{self.random}{files}"


def configured(
    method: str,
    seed: int,
    steps: int,
    tasks: dict[str, Any],
    env: str = "letter",
    tuned: tuple[int | None, dict[str, Any]] | None = None,
) -> RunConfig:
    """A run of a method with its settings (`TUNED`), or others. `tasks`: settings of the tasks."""
    count, changes = tuned or TUNED.get(method, (None, {}))
    settings = {"tasks": tasks, **changes}
    return choose_run(
        None, env, method, seed, tasks="mixture", total_timesteps=steps, num_envs=count, settings=settings
    )


def run(options: Config, method: str, held_out: str, seed: int) -> dict[str, Any]:
    """One row: what an agent reaches on the five formulas as it goes, and at its end on others, on maps and longer."""
    renamed = held_out == "renamed"
    kept = (*FORMULAS, *options.more, *(PATTERNS if renamed else ()))
    config = configured(method, seed, options.steps, {"held_out": kept, "up_to_renaming": renamed}, options.env)
    five, first_seed = TaskSet.of(FORMULAS, config.alphabet), 90_000 + 100 * seed
    trainer, found = curve(config, five, options.every, options.episodes, first_seed, f"{method} {seed}")
    tested = {"formulas": found["curve"][-1]["formulas"], **published(options, config, trainer, five, first_seed)}
    for name, family in LONGER.items():
        pool = sample_tasks(family, config.alphabet, 20, 77_000 + seed, without=trainer.tasks.machines)
        tested[name] = outcomes(config, trainer, pool, 50, 91_000)
    return {
        "method": method,
        "held_out": held_out,
        "seed": seed,
        "frames": trainer.steps,
        "cpu_seconds": found["curve"][-1]["cpu"],
        **{name: np.mean([one.success for one in each]) for name, each in tested.items()},
        "success": {name: [one.success for one in each] for name, each in tested.items()},
        "steps": {name: [one.steps for one in each] for name, each in tested.items()},
        "curve": [[point["steps"], np.mean([one.success for one in point["formulas"]])] for point in found["curve"]],
        "symbols_right_after": found["symbols_right_after"],
        "random": random_formulas(config, trainer, seed, options.random) if options.random else [],
    }


def published(
    options: Config, config: RunConfig, trainer: Trainer, five: TaskSet, seed: int
) -> dict[str, list[Tested]]:
    """The formulas of the file, and all on the maps of the file."""
    more = TaskSet.of(options.more, config.alphabet) if options.more else None
    found = {} if more is None else {"tasks": outcomes(config, trainer, more, options.episodes, seed + 20)}
    if options.maps:
        there = replace(config.settings["env"], maps=options.maps)
        moved = replace(config, settings={**config.settings, "env": there})
        found["formulas on maps"] = outcomes(moved, trainer, five, options.episodes, seed + 50)
        if more is not None:
            found["tasks on maps"] = outcomes(moved, trainer, more, options.episodes, seed + 60)
    return found


def random_formulas(config: RunConfig, trainer: Trainer, seed: int, episodes: int) -> list[list[float]]:
    """Fewest and most states, tasks, success rate, by size of machine: a thousand random formulas, never trained.

    Half of them are two to four chains of up to five steps, the others up to four such chains with things that must
    never happen. Each is tried about as often as the other.
    """
    families = [TemplateSampler(name, max_parts=4, max_steps=5) for name in ("conjunctions", "avoidance")]
    pools = [
        sample_tasks(family, config.alphabet, 500, 78_000 + seed, without=trainer.tasks.machines) for family in families
    ]
    env = config.build_env(250, TaskSet.of(machine for pool in pools for machine in pool.machines))
    found = evaluate(trainer, env, episodes, 92_000 + seed, greedy=False, belief="open-loop").by_task
    return [[one.least, one.most, one.tasks, one.success_rate] for one in by_size(found)]


def sizes_table(results: list[dict[str, Any]]) -> str:
    """Markdown: success on the random formulas by size of machine, the mean over seeds."""
    methods = list(dict.fromkeys(str(result["method"]) for result in results if result.get("random")))
    if not methods:
        return ""
    rates: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for result in results:
        for _, most, tasks, rate in result.get("random", []):
            edge = next((edge for edge in EDGES if most <= edge), None)
            named = f"more than {EDGES[-1]}" if edge is None else f"up to {edge}"
            rates.setdefault(named, {}).setdefault(str(result["method"]), []).append((tasks, rate))
    lines = ["| states | tasks | " + " | ".join(method.upper() for method in methods) + " |"]
    lines.append("| --- | ---: |" + " ---: |" * len(methods))
    for named, of in rates.items():
        cells = (f"{np.average([r for _, r in of[m]], weights=[n for n, _ in of[m]]):.3f}" for m in methods)
        lines.append(f"| {named} | {sum(n for n, _ in of[methods[0]]):.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def kinds(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each method and way to hold out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(f"{row['method'].upper()}, {row['held_out']}", []).append(row)
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: a row for each method and way to hold out, the mean over seeds."""
    lines = [
        "| | labels | frames | CPU s | " + " | ".join(f"formula {n}" for n in range(1, 6)) + " | mean | worst seed |",
        "| --- | --- | ---: | ---: |" + " ---: |" * 7,
    ]
    for name, figures in PUBLISHED.items():
        cells = " | ".join(f"{value:.3f}" for value in figures)
        lines.append(f"| {name}, published | true | 15M | | {cells} | {np.mean(figures):.3f} | |")
    for name, mine in kinds(rows).items():
        success = np.array([row["success"]["formulas"] for row in mine])
        steps = np.nanmean(np.array([row["steps"]["formulas"] for row in mine], dtype=float), 0)
        cells = " | ".join(f"{s:.3f} ({n:.1f})" for s, n in zip(success.mean(0), steps, strict=True))
        frames, cpu = (np.mean([row[key] for row in mine]) for key in ("frames", "cpu_seconds"))
        labels = "true" if mine[0]["method"] == "rm" else "none"
        head = f"| {name}, {len(mine)} seeds | {labels} | {frames:,.0f} | {cpu:.0f}"
        lines.append(f"{head} | {cells} | {success.mean():.4f} | {success.mean(1).min():.4f} |")
    return "\n".join(lines)


def others_table(rows: list[dict[str, Any]]) -> str:
    """Markdown: what else was tested, the mean over formulas and seeds, and the worst seed."""
    names = [name for name in SCORES[1:] if any(name in row for row in rows)]
    lines = ["| | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for kind, mine in kinds(rows).items():
        values = [[row[name] for row in mine if name in row] for name in names]
        cells = (f"{np.mean(each):.4f} ({min(each):.4f})" if each else "" for each in values)
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Success on the unseen formulas against frames: the mean over formulas, a line for each seed and their mean."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
    colours = {"nrm": "#d55e00", "rm": "#0072b2", "rnn": "#009e73"}
    names = {"nrm": "NRM: no labels", "rm": "RM: true symbols", "rnn": "RNN: no machine"}
    for method in dict.fromkeys(str(result["method"]) for result in results):
        curves = [np.array(result["curve"]) for result in results if result["method"] == method]
        for points in curves:
            axis.plot(points[:, 0] / 1000, points[:, 1], color=colours[method], linewidth=0.7, alpha=0.4)
        mean = np.mean([points[: min(map(len, curves))] for points in curves], 0)
        axis.plot(mean[:, 0] / 1000, mean[:, 1], color=colours[method], linewidth=2, label=names[method])
    for (name, figures), dash in zip(PUBLISHED.items(), ("--", "-.", ":"), strict=True):
        label = f"{name}, published, 15 million frames"
        axis.axhline(float(np.mean(figures)), color="grey", linestyle=dash, linewidth=1, label=label)
    axis.set(xlabel="thousand frames", ylabel="success, five unseen formulas", ylim=(0, 1.02), xlim=(0, None))
    axis.legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def jobs(options: Config, seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every method, way to hold out and seed."""
    runs = product(seeds, options.held_out, options.methods)
    return {
        f"{method}-{held_out}-{seed}-{options.steps}-{options.tests}": (options, method, held_out, seed)
        for seed, held_out, method in runs
    }


def by_formula(rows: Sequence[Row]) -> dict[str, float]:
    """Success on each of the five formulas and the steps that it takes, the means over seeds."""
    found: dict[str, float] = {}
    for kind, mine in kinds(list(rows)).items():
        for what in ("success", "steps"):
            means = np.nanmean(np.array([row[what]["formulas"] for row in mine], dtype=float), 0)
            found |= {f"{kind}, {what}, formula {number}": float(value) for number, value in enumerate(means, 1)}
    return found


HEADLINE = Headline(
    "letter-world",
    "NRM_TESTSETS=FOLDER python -m benchmarks.headline letter-world",
    (*SCORES, "symbols_right_after", "frames", "cpu_seconds"),
    ("method", "held_out"),
    derived=by_formula,
)
BENCHMARKS = {"letter-world": Benchmark(HEADLINE, partial(jobs, Config()), run)}


def main(options: Config) -> None:
    """Run what is not done yet, then print the tables."""
    named = jobs(options, options.seeds)
    found = complete(HEADLINE._replace(name=f"{options.env}-world"), named, run, options.workers, options.out)["rows"]
    rows = [row for row in found if row["key"] in named]
    first = [row for row in rows if row["held_out"] == options.held_out[0]]
    print(table(rows), others_table(rows), sizes_table(first), sep="\n\n")
    if options.figure is not None:
        draw(first, options.figure)


if __name__ == "__main__":
    main(tyro.cli(Config))
