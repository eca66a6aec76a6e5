"""The main job, small: train RM, NRM and RNN on one task, and write a report that shows what NRM learned.

No label is ever given to NRM. It learns what a pickaxe is from rewards alone, up to the shortcuts that no reward can
remove. Runs that are finished are not made again, and an interrupted demo goes on where it was.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro

from nrm.errors import NrmError
from nrm.groundability import shortcuts
from nrm.report import build_report
from nrm.results import read_record, read_records, write_results
from nrm.runs import choose_run
from nrm.sweeps import Grid, run_grid
from nrm.sweeps.engines import Event, LocalEngine

METHODS = ("rm", "nrm", "rnn")


@dataclass(frozen=True)
class Config:
    """Train on one task and show the result."""

    task: str = "visit(pickaxe, lava) & global_avoidance(door)"
    """A formula over the world's symbols: pickaxe, lava, door, gem, empty."""
    episodes: int = 2000
    """Episodes of each run."""
    seeds: int = 3
    """Runs of each method."""
    out: Path = Path("out/demo")
    """The folder for the runs and the report."""


def tell(config: Config, event: Event) -> None:
    """Say what a run reached when it ends."""
    if event.kind not in ("done", "failed"):
        return
    if event.kind == "failed":
        print(f"  {event.cell.name} failed: {event.message}", flush=True)
        return
    record, note = read_record(config.out / "runs" / event.cell.name), ""
    if record.grounding is not None:
        plain, modulo = (record.grounding[key][-1] for key in ("accuracy", "accuracy_modulo_shortcuts"))
        note = f"; symbols {plain:.0%} right, {modulo:.0%} modulo shortcuts"
    reached = f"return {record.last_return():6.1f} over the last 100 episodes"
    print(f"  {record.method:<4} seed {record.seed}: {reached}{note}", flush=True)


def main(config: Config) -> None:
    """Train, analyse, and write the report."""
    torch.set_num_threads(1)
    began = time.monotonic()
    found = shortcuts(choose_run(config.task).build_task())
    print(f"Task: {config.task}")
    print(f"  {found.count:,} ways to read its {found.alphabet.size} symbols earn the same rewards;")
    print(f"  {found.by_symmetry:,} of them are mirror images, which no training can tell from the truth.\n")
    print(f"Training {len(METHODS)} methods, {config.seeds} seeds, {config.episodes:,} episodes each:")
    grid = Grid((config.task,), methods=METHODS, seeds=tuple(range(config.seeds)), episodes=config.episodes)
    outcome = run_grid(grid, config.out, LocalEngine(), lambda *_: lambda event: tell(config, event))
    if outcome.skipped:
        print(f"  {len(outcome.skipped)} runs were there already")
    write_results(read_records(config.out)[0], config.out)
    page = build_report(config.out, f"Demo: {config.task}", recorded=config.seeds)
    path = page.write(config.out / "index.html")
    print(
        f"\n{time.monotonic() - began:.0f} s. Open {path} in a browser. It shows what RM (told the symbols), NRM\n"
        "(told the task only) and RNN (told nothing) reached, their learning curves, the task's machine, what rewards\n"
        "can teach about each symbol, the grounding that NRM learned beside the truth, and episodes to step through."
    )


if __name__ == "__main__":
    try:
        main(tyro.cli(Config))
    except NrmError as error:
        sys.exit(f"demo: error: {error}")
