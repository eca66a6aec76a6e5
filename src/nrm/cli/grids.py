"""`nrm sweep` and `nrm reproduce`: grids of runs, and what is told at their end."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nrm.cli.arguments import Count, Mark, UsageError
from nrm.cli.terminal import grid_progress, interrupt_flag, stage_progress
from nrm.errors import MissingExtraError
from nrm.files import write_text

if TYPE_CHECKING:
    from nrm.results import Record, ResultRow
    from nrm.sweeps import Engine, Grid, Outcome

INTERRUPTED = 130


def finish(out: Path, outcome: Outcome, quiet: bool = False) -> int:
    """Print and write what the runs in a grid folder amount to; the exit status. `quiet`: without progress."""
    from nrm.results import read_records, results_table, write_results

    records, problems = read_records(out)
    failed = {path.name: why for path, why in problems.items()} | outcome.failed
    if records:
        _print_table(results_table(records))
        write_results(records, out, problems)
        print(_cost(records))
    _print_outcome(outcome, failed, out)
    _write_failed(failed, out / "failed.md")
    if not outcome.interrupted and any(record.done for record in records):
        _write_figures(records, out / "figures")
        _write_report(out, quiet)
    return INTERRUPTED if outcome.interrupted else 1 if failed else 0


def groundability(out: Path, budget: float) -> None:
    """Write the paper's groundability tables, unless they are there; each measurement may take `budget` seconds."""
    from nrm.figures import write_groundability

    if any(out.glob("*.md")):
        return
    print(f"measuring groundability, at most {budget:g} s for each way of counting and task", flush=True)
    try:
        write_groundability(out, budget=budget)
    except MissingExtraError as error:
        print(f"no figure of groundability: {error}")
    print(f"groundability tables in {out}")


def _write_figures(records: list[Record], out: Path) -> None:
    from nrm.figures import write_figures

    try:
        write_figures(records, out)
    except MissingExtraError as error:
        print(f"no figures: {error}")
    else:
        print(f"figures in {out}")


def _write_report(out: Path, quiet: bool) -> None:
    import torch

    from nrm.report import build_report

    torch.set_num_threads(1)
    print("writing the report", flush=True)
    with stage_progress(quiet) as progress:
        page = build_report(out, progress=progress)
    print(f"report in {page.write()}", flush=True)


def _print_table(rows: list[ResultRow]) -> None:
    """The most telling columns; results.md and results.csv have more."""
    from nrm.results import method_named, subject_word

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("env", no_wrap=True)
    table.add_column(subject_word(row.group for row in rows), min_width=14, overflow="fold")
    table.add_column("method", no_wrap=True)
    for heading in ("runs", "last 100", "success", "area", "grounding", "CPU s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        group, texts = row.group, row.texts
        chosen = [texts[heading] for heading in ("last 100", "success", "area", "modulo shortcuts", "CPU s")]
        name = f"{method_named(group.method).label} {group.variant}"
        table.add_row(group.env, group.task.removeprefix("paper task "), name, str(row.runs), *chosen)
    wide = None if sys.stdout.isatty() else 120
    Console(highlight=False, markup=False, emoji=False, width=wide).print(table)


def _cost(records: list[Record]) -> str:
    """What all runs have cost together, by method, over all their resumptions."""
    from nrm.results import method_named, method_order

    minutes: dict[str, float] = {}
    for record in sorted(records, key=lambda each: method_order(each.method)):
        if record.cpu_seconds is not None:
            minutes[record.method] = minutes.get(record.method, 0.0) + record.cpu_seconds / 60
    parts = ", ".join(f"{method_named(name).label} {spent:.1f}" for name, spent in minutes.items())
    return f"CPU minutes: {sum(minutes.values()):.1f} ({parts})" if minutes else "CPU minutes: unknown"


def _print_outcome(outcome: Outcome, failed: dict[str, str], out: Path) -> None:
    before = f" ({len(outcome.skipped)} of them before)" if outcome.skipped else ""
    print(f"{len(outcome.done) + len(outcome.skipped)} runs done{before}, in {out}")
    if failed:
        print(f"{len(failed)} failed:")
        for name, why in failed.items():
            print(f"  {name}: {why}")
        print("mend that and run the same command again: only what is missing is trained")
    if outcome.interrupted:
        print(
            f"interrupted: {len(outcome.saved)} runs are saved where they were, {len(outcome.waiting)} have not begun; "
            "run the same command again to go on"
        )


def _write_failed(failed: dict[str, str], path: Path) -> None:
    if failed:
        write_text(path, "".join(f"- `{name}`: {why}\n" for name, why in failed.items()))
    else:
        path.unlink(missing_ok=True)


@dataclass(frozen=True)
class GridOptions:
    """How a grid is run."""

    out: Annotated[Path, Mark("FOLDER")] = field(kw_only=True)
    """The folder for the grid: a folder for each run in runs/, and the results. The same command goes on there."""
    engine: Literal["local", "ray"] = "local"
    """local: processes on this machine. ray: tasks of a Ray cluster (extra [ray])."""
    processes: Count | None = None
    """Runs at a time on this machine; as many as there are cores when absent."""
    address: Annotated[str | None, Mark("HOST:PORT")] = None
    """Of an existing Ray cluster, such as 10.0.0.1:6379 or auto; without it a cluster is started on this machine."""
    quiet: bool = False
    """No progress; the table of results only."""

    def run_grid(self, grid: Grid) -> int:
        """Train what is missing, and tell what came of it. Status 0: all done, 1: a run failed, 130: interrupted."""
        from nrm.sweeps import run_grid

        engine = self._engine()
        with interrupt_flag() as interrupted, grid_progress(self.quiet) as plan:
            outcome = run_grid(grid, self.out, engine, plan, interrupted)
        return finish(self.out, outcome, self.quiet)

    def _engine(self) -> Engine:
        from nrm.sweeps import LocalEngine, RayEngine

        if self.engine == "ray":
            return RayEngine(address=self.address, processes=self.processes)
        if self.address is not None:
            raise UsageError("--address names a Ray cluster; add --engine ray")
        return LocalEngine(processes=self.processes)


@dataclass(frozen=True)
class Sweep(GridOptions):
    """Run every combination that a grid file (TOML) lists: envs, tasks, methods, seeds and variants of settings.

    Interrupt it when you like; the same command goes on. Exit status 1 when a run failed; the others are done.

    For example:
      nrm sweep grid.toml --out out/grid
      nrm sweep grid.toml --out out/grid --processes 4
      nrm sweep grid.toml --out out/grid --engine ray --address auto
    """

    file: Annotated[Path, Mark("GRID.toml", positional=True)] = field(kw_only=True)
    """The grid file."""

    def run(self) -> int:
        """Run the grid, and print its table."""
        from nrm.sweeps import load_grid

        return self.run_grid(load_grid(self.file))


ENVS = {"map": ("map",), "image": ("image",), "both": ("map", "image")}
QUICK_EPISODES, QUICK_SEEDS = 1000, (0, 1)


@dataclass(frozen=True)
class Reproduce(GridOptions):
    """Run the paper: 8 tasks x 3 methods x 5 seeds x 10,000 episodes in both environments, and its groundability table.

    Interrupt it when you like; the same command goes on. Exit status 1 when a run failed; the others are done.

    For example:
      nrm reproduce --out out/paper
      nrm reproduce --quick --out out/quick
      nrm reproduce --recipe paper --env map --tasks 1 4 7 --seeds 0 --out out/recipe
    """

    quick: bool = False
    """A small version, for minutes: the map environment, 2 seeds, 1,000 episodes. Other options add to it again."""
    env: Literal["map", "image", "both"] | None = None
    """Which environments; both, and with --quick the map."""
    tasks: Annotated[tuple[str, ...], Mark("TASK …")] = ("1", "2", "3", "4", "5", "6", "7", "8")
    """Which tasks: 1 to 8, names, formulas or task files."""
    methods: Annotated[tuple[str, ...], Mark("METHOD …")] = ("rm", "nrm", "rnn")
    """Which methods."""
    seeds: tuple[int, ...] | None = None
    """Which seeds; 0 to 4, and with --quick 0 and 1."""
    total_episodes: Count | None = None
    """Episodes of each run; 10,000, and with --quick 1,000."""
    recipe: Annotated[str, Mark("RECIPE")] = "auto"
    """The settings to start from: auto (ours) or paper (its hyper-parameters)."""

    def run(self) -> int:
        """Run the grid, and write what the paper shows."""
        from nrm.sweeps import paper_grid

        episodes = self.total_episodes if self.total_episodes is not None else QUICK_EPISODES if self.quick else 10_000
        seeds = self.seeds if self.seeds is not None else QUICK_SEEDS if self.quick else (0, 1, 2, 3, 4)
        envs = ENVS[self.env or ("map" if self.quick else "both")]
        grid = paper_grid(envs, self.tasks, self.methods, seeds, episodes, self.recipe)
        if self.quick:
            print(_left_out(envs, seeds, episodes, len(self.tasks)))
        status = self.run_grid(grid)
        if status != INTERRUPTED:
            groundability(self.out / "groundability", budget=0.2 if self.quick else 60.0)
        return status


def _left_out(envs: tuple[str, ...], seeds: tuple[int, ...], episodes: int, tasks: int) -> str:
    missing = [f"{len(seeds)} of the paper's 5 seeds", f"{episodes:,} of its 10,000 episodes"]
    if envs != ENVS["both"]:
        missing.append(f"the {envs[0]} environment only")
    if tasks != 8:
        missing.append(f"{tasks} tasks, not its 8")
    return f"a quick version: {', '.join(missing)}"
