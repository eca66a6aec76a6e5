"""Each headline by one command: `python -m benchmarks.headline NAME` measures what is missing of it.

The rows and their summary are written to `benchmarks/results/NAME.json`, from which README and documentation take their
numbers. `--list` tells what there is, whether present code made it, and what it cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import tyro

from benchmarks.common import report
from benchmarks.results import RESULTS, Benchmark, complete, show, source
from nrm.errors import NrmError, unknown
from nrm.files import read_json

MODULES = {
    "letter-world": "letter_world",
    "rnn-tuning": "rnn_tuning",
    "flat-world": "flat_world",
    "flat-tuning": "flat_tuning",
    "zones": "zones",
    "infinite-tasks": "infinite_tasks",
    "drawn-tasks": "drawn_tasks",
    **{f"single-{experiment}": "single_tasks" for experiment in ("map", "image", "patrol", "drawn-4", "drawn-6")},
    "translation": "translate",
    "shortcuts": "shortcuts",
    "grounding": "grounding",
    "recordings": "recordings",
    "hidden-symbols": "hidden_symbols",
    "unknown-machines": "unknown_machines",
    "continuous": "continuous",
    "terminal-rewards": "terminal_rewards",
    "noisy-labels": "noisy_labels",
    "minigrid": "minigrid",
    "office": "toolbox",
    "water": "toolbox",
}
"""The module of each headline, in whose `BENCHMARKS` it is."""


@dataclass(frozen=True)
class Config:
    """Reproduce a headline."""

    name: tyro.conf.Positional[str] = ""
    """Which one."""
    list: bool = False
    """Tell which there are."""
    seeds: tuple[int, ...] = ()
    """Other seeds than those that are reported."""
    jobs: int = 1
    """Runs side by side. Measure times with one."""
    out: Path = RESULTS
    """The folder of the results file."""


def benchmark(name: str) -> Benchmark:
    """The benchmark of a headline."""
    if name not in MODULES:
        raise NrmError(unknown("headline", name, MODULES))
    found: dict[str, Benchmark] = import_module(f"benchmarks.{MODULES[name]}").BENCHMARKS
    return found[name]


def listed(name: str) -> tuple[object, ...]:
    """What is there of a headline."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return (name, 0, "", "", "")
    data = read_json(path)
    rows = data["rows"]
    present = sum(row["source"] == source() for row in rows) / len(rows)
    minutes = sum(row["cpu_seconds"] for row in rows) / 60
    return (name, len(rows), " ".join(map(str, data["seeds"])), f"{present:.0%}", f"{minutes:.1f}")


def main(config: Config) -> None:
    """Measure and print."""
    if config.list or not config.name:
        headings = ("headline", "rows", "seeds", "by present code", "CPU minutes")
        report("Headlines", headings, [listed(name) for name in MODULES], Path("out/bench"), "headlines")
        return
    chosen = benchmark(config.name)
    jobs = chosen.jobs(config.seeds or chosen.seeds)
    show(complete(chosen.headline, jobs, chosen.run, config.jobs, config.out), Path("out/bench"))


if __name__ == "__main__":
    try:
        main(tyro.cli(Config, description=__doc__))
    except NrmError as error:
        raise SystemExit(f"headline: {error}") from None
