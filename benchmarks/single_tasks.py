"""Single tasks: RM, NRM and RNN beside the references that a comparison needs, tested without rewards.

    python -m benchmarks.single_tasks map --seeds 4000 4001 4002 4003 4004

The references: *memoryless* sees the observation alone; *blind* sees nothing; a *frozen random grounder* is NRM that
never learns its symbols; *return so far* sees the sum of its rewards and no machine. What these earn, a method must not
be praised for. Each trained agent is tested on fresh episodes with sampled actions, once without reading a reward and
once with. Runs that are done are not repeated, and interrupted ones go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import tyro

from benchmarks.common import report
from benchmarks.results import RESULTS, Benchmark, Headline, beside_rm, complete
from nrm.agents import METHODS as REGISTERED
from nrm.agents import evaluate
from nrm.results import read_record
from nrm.runs import RunFolder
from nrm.sweeps import Grid
from nrm.sweeps.cells import run_cell
from nrm.sweeps.grid_file import load_grid
from nrm.tracking import Belief, found_at

PAPER = ("1", "2", "3", "4", "5", "6", "7", "8")
METHODS = ("rm", "nrm", "rnn", "memoryless", "blind", "frozen", "return")
COMMON = ("env", "algorithm", "network")
"""Sections of settings that every method has."""
SCORES = ("test", "success", "greedy", "with_rewards", "area", "grounding", "cpu_seconds")
HEADINGS = (
    *("task, method", "seeds", "test return", "worst seed", "success", "with rewards read", "area", "grounding"),
    "CPU s",
)


def _drawn(size: int, steps: int) -> Grid:
    return Grid(("1", "3", "5", "8"), ("image-episode",), settings={"env": {"size": size}}, total_timesteps=steps)


EXPERIMENTS: dict[str, Grid] = {
    "map": Grid(PAPER, ("map",)),
    "image": Grid(PAPER, ("image",)),
    "patrol": load_grid(Path(__file__).parent / "sweeps" / "patrol-map.toml"),
    "drawn-4": _drawn(4, 150_000),
    "drawn-6": _drawn(6, 350_000),
}
"""The paper's two environments; sixteen visits in their order; images of randomised layouts, by the cells along a
side."""


@dataclass(frozen=True)
class Config:
    """Train, test and print."""

    experiment: tyro.conf.Positional[str]
    """One of map, image, patrol, drawn-4, drawn-6."""
    methods: tuple[str, ...] = METHODS
    """What is compared."""
    tasks: tuple[str, ...] = ()
    """Some of the experiment's tasks; all when absent."""
    seeds: tuple[int, ...] = (4000, 4001, 4002, 4003, 4004)
    """Seeds of training. Settings were chosen on seeds 100 to 107."""
    episodes: int | None = None
    """Episodes of a run, or steps where the experiment counts these; as the experiment says when absent."""
    played: int = 200
    """Episodes that each trained agent is tested on."""
    workers: int = 1
    """Runs side by side."""
    out: Path = Path("out/single")
    """Where runs are kept."""
    results: Path = RESULTS
    """Where the file of results is."""


def grid_of(experiment: str, method: str, task: str, seed: int, amount: int | None) -> Grid:
    """The grid of one run."""
    base = EXPERIMENTS[experiment]
    variants: dict[str, Any] = {"blind": {"network": {"encoder": "blind"}}} if method == "blind" else {"": {}}
    unit = "total_episodes" if base.total_timesteps is None else "total_timesteps"
    length: dict[str, Any] = {} if amount is None else {unit: amount}
    known = "memoryless" if method == "blind" else method
    sections = {*COMMON, REGISTERED[known].section}
    settings = {name: values for name, values in base.settings.items() if name in sections}
    return replace(base, tasks=(task,), methods=(known,), seeds=(seed,), settings=settings, variants=variants, **length)


def run(
    experiment: str, method: str, task: str, seed: int, amount: int | None, played: int, out: str
) -> dict[str, Any]:
    """Train one agent, and test it without and with rewards."""
    (cell,) = grid_of(experiment, method, task, seed, amount).cells
    folder = RunFolder(Path(out) / experiment / cell.name)
    run_cell(cell, folder, 5000, lambda _: None, lambda: False)
    trainer, config = folder.load("cpu"), folder.config()

    def tested(greedy: bool, belief: Belief | None = None) -> Any:
        return evaluate(trainer, config.build_env(min(50, played)), played, 12345, greedy, belief)

    test, best, told = tested(False), tested(True), tested(False, "filtered")
    record, machines = read_record(folder.path), folder.machines()
    return {
        "experiment": experiment,
        "method": method,
        "task": _number(task),
        "seed": seed,
        "test": test.mean_return,
        "success": test.success_rate,
        "greedy": best.mean_return,
        "with_rewards": told.mean_return,
        "area": float(record.returns.mean()),
        "last": record.last_return(),
        "grounding": None if test.grounding is None else test.grounding.modulo_shortcuts,
        "machine_found": None if machines is None else found_at(list(machines.versions)),
        "cpu_seconds": record.cpu_seconds,
    }


def jobs(config: Config, seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """A run of every seed, task and method."""
    runs = product(seeds, config.tasks or EXPERIMENTS[config.experiment].tasks, config.methods)
    rest = (config.episodes, config.played, str(config.out))
    return {
        f"{_number(task)} {method} {seed} {config.episodes or 'all'}": (config.experiment, method, task, seed, *rest)
        for seed, task, method in runs
    }


def _benchmark(experiment: str) -> Benchmark:
    name = f"single-{experiment}"
    shares = partial(beside_rm, ("test", "area", "cpu_seconds"))
    headline = Headline(name, f"python -m benchmarks.headline {name}", SCORES, by=("task", "method"), derived=shares)
    return Benchmark(headline, partial(jobs, Config(experiment)), run)


BENCHMARKS = {f"single-{experiment}": _benchmark(experiment) for experiment in EXPERIMENTS}


def main(config: Config) -> None:
    """Train what is missing, test it, and print a table."""
    headline = BENCHMARKS[f"single-{config.experiment}"].headline
    found = complete(headline, jobs(config, config.seeds), run, config.workers, config.results)
    lines = [_line(one) for one in found["summary"].items() if one[0] != "derived"]
    report(f"Single tasks, {config.experiment}", HEADINGS, lines, config.out, headline.name)


def _number(task: str) -> int:
    """Of the paper's tasks; 1 for the one task of another experiment."""
    return PAPER.index(task) + 1 if task in PAPER else 1


def _line(group: tuple[str, dict[str, Any]]) -> tuple[object, ...]:
    name, scores = group
    test, success, told, area = (scores[score] for score in ("test", "success", "with_rewards", "area"))
    named = f"{scores['grounding']['mean']:.1%}" if "grounding" in scores else "-"
    return (
        *(name, test["runs"], f"{test['mean']:.1f}", f"{test['min']:.1f}", f"{success['mean']:.1%}"),
        *(f"{told['mean']:.1f}", f"{area['mean']:.1f}", named, f"{scores['cpu_seconds']['mean']:.1f}"),
    )


if __name__ == "__main__":
    main(tyro.cli(Config))
