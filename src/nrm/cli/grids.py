"""`nrm sweep` and `nrm reproduce`: grids of runs, and what is printed at their end."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from nrm.cli.arguments import UsageError
from nrm.cli.options import FileArgument, WorkOptions
from nrm.cli.terminal import grid_progress, interrupt_flag, plain_console, say, stage_progress, table
from nrm.errors import MissingExtraError
from nrm.files import write_text
from nrm.settings import Count
from nrm.sweeps import PAPER_LISTS, Grid

if TYPE_CHECKING:
    from nrm.results import Record, ResultRow
    from nrm.sweeps import Outcome


def finish(out: Path, outcome: Outcome, quiet: bool = False) -> int:
    """Print and write what the runs in a grid folder amount to; the exit status. `quiet`: without progress."""
    from nrm.results import read_records, results_table, write_results

    records, problems = read_records(out)
    failed = {path.name: why for path, why in problems.items()} | outcome.failed
    if records:
        _print_table(results_table(records))
        write_results(records, out, problems)
        say(_cost(records))
    _print_outcome(outcome, failed, out)
    if failed:
        write_text(out / "failed.md", "".join(f"- `{name}`: {why}\n" for name, why in failed.items()))
    else:
        (out / "failed.md").unlink(missing_ok=True)
    if not outcome.interrupted and any(record.done for record in records):
        _write_figures(records, out / "figures")
        _write_report(out, quiet)
    return 130 if outcome.interrupted else 1 if failed else 0


def _write_figures(records: list[Record], out: Path) -> None:
    from nrm.figures import write_figures

    try:
        write_figures(records, out)
        say(f"figures in {out}")
    except MissingExtraError as error:
        say(f"no figures: {error}")


def _write_report(out: Path, quiet: bool) -> None:
    import torch

    from nrm.report import build_report

    torch.set_num_threads(1)
    say("writing the report", flush=True)
    with stage_progress(quiet) as progress:
        page = build_report(out, progress=progress)
    say(f"report in {page.write()}", flush=True)


def _print_table(rows: list[ResultRow]) -> None:
    """The most telling columns; results.md and results.csv have more."""
    from nrm.results import method_named

    shown = ("last 100", "success", "area", "up to equivalence", "CPU s")
    cells = []
    for row in rows:
        name = f"{method_named(row.group.method).label} {row.group.variant}"
        task = row.group.task.removeprefix("paper task ")
        cells.append((row.group.env, task, name, str(row.runs), *(row.texts[heading] for heading in shown)))
    headings = ("env", "task", "method", "runs", *shown)
    plain_console(120).print(table(headings, cells, numbers=headings[3:]))


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
    before = f" ({len(outcome.skipped)} of them earlier)" if outcome.skipped else ""
    say(f"{len(outcome.done) + len(outcome.skipped)} runs done{before}, in {out}")
    if failed:
        say("\n  ".join([f"{len(failed)} failed:", *(f"{name}: {why}" for name, why in failed.items())]))
        say("fix the cause and run the same command again: only missing runs are trained")
    if outcome.interrupted:
        begun = f"{len(outcome.saved)} runs are saved, {len(outcome.waiting)} have not started"
        say(f"interrupted: {begun}; run the same command again to continue")


@dataclass(frozen=True, kw_only=True)
class GridOptions(WorkOptions):
    """How a grid is run."""

    engine: str = "local"
    """local: processes on this machine. ray: a Ray cluster that is started here (extra [ray]). ray:ADDRESS: an existing
    one, such as ray:10.0.0.1:6379 or ray:auto."""
    processes: Count | None = None
    """Number of parallel runs. Default: one per core."""

    def run_grid(self, grid: Grid) -> int:
        """Train what is missing, and print what came of it. Status 0: all done, 1: a run failed, 130: interrupted."""
        from nrm.sweeps import LocalEngine, RayEngine, run_grid

        kind, _, address = self.engine.partition(":")
        if kind != "ray" and self.engine != "local":
            raise UsageError(f"--engine is local, ray or ray:ADDRESS, not '{self.engine}'")
        ray = kind == "ray"
        engine = RayEngine(self.processes, address=address or None) if ray else LocalEngine(self.processes)
        with interrupt_flag() as interrupted, grid_progress(self.quiet) as plan:
            outcome = run_grid(grid, self.folder, engine, plan, interrupted)
        return finish(self.folder, outcome, self.quiet)

    @property
    def folder(self) -> Path:
        """Where the grid goes."""
        if self.out is None:
            raise UsageError("the folder of the sweep is missing: --out FOLDER")
        return self.out


@dataclass(frozen=True, kw_only=True)
class Sweep(FileArgument, GridOptions):
    """Train every combination in a sweep file (TOML): environments, tasks, methods, seeds and variants of settings.

    The folder --out holds the runs, tables, figures and a report. You can interrupt the command; run it again to
    continue. The exit status is 1 if a run failed; the others are complete.

    For example:
      nrm sweep sweep.toml --out out/sweep
      nrm sweep sweep.toml --out out/sweep --processes 4
      nrm sweep sweep.toml --out out/sweep --engine ray:auto
    """

    def run(self) -> int:
        """Run the grid, and print its table."""
        from nrm.sweeps import load_grid

        return self.run_grid(load_grid(Path(self.file)))


@dataclass(frozen=True, kw_only=True)
class Reproduce(GridOptions, Grid):
    """Repeat the experiments of the paper: 8 tasks, 3 methods, 5 seeds, 2 environments.

    The folder --out holds the runs, tables, figures and a report. You can interrupt the command; run it again to
    continue. The exit status is 1 if a run failed; the others are complete.

    For example:
      nrm reproduce --out out/paper
      nrm reproduce --envs map --seeds 0 1 --total-episodes 1000 --out out/quick
      nrm reproduce --recipe paper --envs map --tasks 1 4 7 --seeds 0 --out out/recipe
    """

    usual: ClassVar = {**Grid.usual, **PAPER_LISTS}

    def run(self) -> int:
        """Run the grid, and print its table."""
        return self.run_grid(Grid(**{item.name: getattr(self, item.name) for item in fields(Grid)}))
