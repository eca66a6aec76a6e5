"""One agent for many tasks, from images and without labels; and a small version of the paper's comparison.

The agent sees images of a grid with a random layout, and has a different task in each episode. It is never shown what
a pickaxe looks like. It learns the symbols from the rewards of all tasks together, and then executes unseen formulas.
For comparison, RM, NRM and RNN learn one task, as in the paper. If you interrupt the demo, run it again to continue.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro

from nrm.errors import NrmError
from nrm.report import Page, build_report
from nrm.results import read_record, read_records, write_results
from nrm.runs import choose_run
from nrm.shortcuts import shortcuts
from nrm.sweeps import Grid, Outcome, run_grid
from nrm.sweeps.engines import Event, LocalEngine

METHODS = ("rm", "nrm", "rnn")


@dataclass(frozen=True)
class Config:
    """Train one agent on many tasks, compare three methods on one task, and write a report."""

    formulas: tuple[str, ...] = (
        "F(pickaxe & F(gem & F door)) & G !lava",
        "F(lava & F(door & F pickaxe))",
        "F(door & F gem) & F(lava & F pickaxe)",
    )
    """Unseen formulas to test, over pickaxe, lava, door and gem."""
    family: str = "paper"
    """Task sampler of the training tasks; see 'nrm tasks'."""
    tasks: int = 100
    """Number of training tasks."""
    steps: int = 150_000
    """Number of training steps, summed over environments."""
    task: str = "visit(pickaxe, lava) & global_avoidance(door)"
    """The task of the comparison."""
    episodes: int = 2000
    """Number of episodes of each run in the comparison."""
    seeds: int = 3
    """Number of runs of each method in the comparison."""
    out: Path = Path("out/demo")
    """The folder for the runs and the report."""


def grids(config: Config) -> tuple[Grid, ...]:
    """What is trained, the longest run first."""
    many = Grid(
        (config.family,),
        envs=("image-episode",),
        methods=("nrm",),
        total_timesteps=config.steps,
        settings={"tasks": {"count": config.tasks, "held_out": config.formulas}},
    )
    one = Grid((config.task,), methods=METHODS, seeds=tuple(range(config.seeds)), total_episodes=config.episodes)
    return many, one


def teller(config: Config) -> Callable[[Event], None]:
    """What says how far the long run is, and what a run reached when it ends."""
    told = 0

    def tell(event: Event) -> None:
        nonlocal told
        many, amount = event.cell.config.tasks is not None, event.cell.config.amount
        if event.kind == "failed":
            print(f"  {event.cell.name} failed: {event.message}", flush=True)
        elif event.kind == "progress" and many and event.reached >= (told + 1) * amount / 8:
            told = 8 * event.reached // amount
            print(f"  many tasks: {event.reached:,} of {amount:,} steps", flush=True)
        elif event.kind == "done":
            _tell_end(config, event.cell.name)

    return tell


def _tell_end(config: Config, name: str) -> None:
    record = read_record(config.out / "runs" / name)
    if record.task is None:
        success = record.metrics["success"][-500:].mean()
        symbols = record.last_accuracy("accuracy")
        note = "" if symbols is None else f"; symbols {symbols:.0%} correct"
        print(f"  many tasks: {success:.0%} of the last 500 training episodes succeed{note}", flush=True)
        return
    note = ""
    if record.grounding is not None:
        plain, modulo = (record.grounding[key][-1] for key in ("accuracy", "accuracy_modulo_shortcuts"))
        note = f"; symbols {plain:.0%} correct, {modulo:.0%} up to equivalence"
    reached = f"return {record.last_return():6.1f} over the last 100 episodes"
    print(f"  one task: {record.method:<4} seed {record.seed}: {reached}{note}", flush=True)


def train(config: Config) -> Outcome:
    """Train what is missing."""
    found = shortcuts(choose_run(config.task).build_task())
    print(f"Training one agent on {config.tasks} random tasks from images, without labels: {config.steps:,} steps.")
    print(f"For comparison, {', '.join(METHODS)} on one task, {config.episodes:,} episodes each: {config.task}")
    print(f"  ({found.count:,} mappings of its {found.alphabet.size} symbols earn the same rewards;")
    print(f"  {found.by_symmetry:,} follow a symmetry, which no training on this task alone can undo.)")
    tell = teller(config)
    outcome = run_grid(grids(config), config.out, LocalEngine(), lambda *_: tell)
    if outcome.skipped:
        print(f"  {len(outcome.skipped)} runs were already finished")
    return outcome


def tell_formulas(page: Page) -> None:
    """Print the success of the agent on unseen formulas."""
    for group in page.data["groups"]:
        if group["many"] and group["tried"] is not None:
            formulas = page.data["trials"][group["trial"]]["formulas"]
            print(f"\nSuccess on unseen formulas, {group['tried']['episodes']} episodes each:")
            for row, success in zip(formulas, group["tried"]["success"], strict=True):
                if row["origin"] == "given":
                    print(f"  {success:4.0%}  {row['formula']}")
            others = [
                success
                for row, success in zip(formulas, group["tried"]["success"], strict=True)
                if row["origin"] in ("drawn", "longer")
            ]
            if others:
                print(f"  {sum(others) / len(others):4.0%}  {len(others)} others")


def main(config: Config) -> int:
    """Train, try, and write the report."""
    torch.set_num_threads(1)
    began = time.monotonic()
    outcome = train(config)
    write_results(read_records(config.out)[0], config.out)
    print("trying the agents, and writing the report", flush=True)
    page = build_report(config.out, "Demo: one agent for every task", recorded=config.seeds, tasks=config.formulas)
    path = page.write(config.out / "index.html")
    tell_formulas(page)
    print(
        f"\n{time.monotonic() - began:.0f} s. Open {path} in a browser. It plays formulas that were never trained,\n"
        "with what the agent reads and what it sees of the task. Beside that it shows what RM (given the symbols),\n"
        "NRM (given the task only) and RNN (given nothing) reach on one task, whose rewards cannot teach every symbol."
    )
    return 1 if outcome.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(tyro.cli(Config)))
    except NrmError as error:
        sys.exit(f"demo: error: {error}")
    except KeyboardInterrupt:
        sys.exit("\ninterrupted; what is trained is kept, and the same command goes on")
