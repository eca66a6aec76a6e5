"""`nrm report`: one page about all runs in a folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nrm.cli.options import CountOption, FolderArgument, OutOption
from nrm.cli.terminal import say, stage_progress
from nrm.errors import counted, shown

if TYPE_CHECKING:
    from nrm.report import Page


@dataclass(frozen=True, kw_only=True)
class Report(FolderArgument, OutOption, CountOption):
    """Write an HTML report on all runs in a folder: one file that needs no server and no network.

    The default file is index.html in the folder. Agents of many tasks are tested on 24 unseen formulas, or --count.

    For example:
      nrm report runs
      nrm report runs --out page.html
      nrm report runs/letters --task "F(a & F b)" --task "F c"
    """

    task: tuple[str, ...] = ()
    """Agents of many tasks: a formula to test, also an unseen one. May be repeated."""

    def run(self) -> int:
        """Read, play, write."""
        import torch

        from nrm.report import build_report

        torch.set_num_threads(1)
        with stage_progress() as progress:
            page = build_report(
                self.folder,
                formulas=24 if self.count is None else self.count,
                tasks=self.task,
                progress=progress,
            )
        path = page.write(self.out)
        for notes, what in ((page.unfinished, "unfinished"), (page.problems, "problem")):
            for place, reason in list(notes.items())[:20]:
                say(shown(f"nrm: {what}: {place}: {reason}"), file=sys.stderr)
            if (more := len(notes) - 20) > 0:
                say(f"nrm: {what}: … and {more:,} more; the page names all", file=sys.stderr)
        say(f"{_contents(page)}: wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
        return 0


def _contents(page: Page) -> str:
    groups = page.data["groups"]
    tasks, families = ({group["task"] for group in groups if group["many"] == many} for many in (False, True))
    parts = [counted(page.runs, "run")]
    parts += [counted(len(tasks), "task")] if tasks else []
    parts += [counted(len(families), "task distribution")] if families else []
    return ", ".join([*parts, counted(len({group["env"] for group in groups}), "environment")])
