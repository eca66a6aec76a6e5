"""`nrm report`: one page about all runs in a folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from nrm.cli.options import UsageError
from nrm.cli.terminal import stage_progress
from nrm.errors import counted

if TYPE_CHECKING:
    from nrm.report import Page

MAX_NOTES = 20
"""Folders with problems that are named one by one; the page names all."""


@dataclass(frozen=True)
class Report:
    """Write one self-contained HTML page about all runs below a folder: it opens from disk and can be sent around."""

    folder: tyro.conf.Positional[Path]
    """The folder below which the runs are."""
    out: Path | None = None
    """The file to write; index.html in the folder if not given."""
    title: str | None = None
    """The title of the page."""
    recorded: int = 1
    """How many runs of each method, task and environment to play episodes with."""
    task: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Of agents of many tasks: a formula to try them on, also one that they have never seen. May be given again."""
    formulas: int = 24
    """Of agents of many tasks: how many formulas of their family, which they were not trained on, to try them on."""

    def run(self) -> int:
        """Read, play, write."""
        import torch

        from nrm.report import build_report

        if self.recorded < 0:
            raise UsageError(f"--recorded takes a number of runs, not {self.recorded}")
        if self.formulas < 1:
            raise UsageError(f"--formulas takes a number of formulas from 1, not {self.formulas}")
        torch.set_num_threads(1)
        with stage_progress() as progress:
            page = build_report(
                self.folder,
                self.title,
                recorded=self.recorded,
                formulas=self.formulas,
                tasks=self.task,
                progress=progress,
            )
        path = page.write(self.out)
        _say_notes(page)
        print(f"{_contents(page)}: wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
        return 0


def _contents(page: Page) -> str:
    groups = page.data["groups"]
    tasks, families = ({group["task"] for group in groups if group["many"] == many} for many in (False, True))
    parts = [counted(page.runs, "run")]
    parts += [counted(len(tasks), "task")] if tasks else []
    parts += [f"{len(families):,} {'family' if len(families) == 1 else 'families'} of tasks"] if families else []
    return ", ".join([*parts, counted(len({group["env"] for group in groups}), "environment")])


def _say_notes(page: Page) -> None:
    """Name what is unfinished or unreadable on standard error."""
    for notes, what in ((page.unfinished, "unfinished"), (page.problems, "problem")):
        for path, reason in list(notes.items())[:MAX_NOTES]:
            print(f"nrm: {what}: {path}: {reason}", file=sys.stderr)
        if len(notes) > MAX_NOTES:
            print(f"nrm: {what}: … and {len(notes) - MAX_NOTES:,} more; the page names all", file=sys.stderr)
