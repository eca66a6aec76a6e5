"""The progress of work in stages: a bar for each, in a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from nrm.cli.grid_progress import duration


@contextmanager
def stage_progress(quiet: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """What is told the name of a stage, how much of it is done, and of how much; None where nobody looks at it."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]} left", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, refresh_per_second=4) as bars:
        stages: dict[str, tuple[TaskID, float]] = {}

        def show(stage: str, done: int, total: int) -> None:
            now = time.monotonic()
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total, left="?"), now
            bar, began = stages[stage]
            # One part may take minutes, which rich would forget between two of them.
            left = duration((now - began) * (total - done) / done if done else None)
            bars.update(bar, completed=done, left=left)

        yield show
