"""What an agent of many tasks makes of some tasks: as tables, and for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nrm.cli.terminal import plain_console, table

if TYPE_CHECKING:
    from nrm.agents import TaskOutcome

MAX_LISTED = 30
"""Tasks up to which all are listed; of more, those that fail most."""
WORST = 10
"""How many of these."""


def outcome_json(outcomes: Sequence[TaskOutcome], trained: Sequence[bool]) -> dict[str, object]:
    """A row for each task and one for each size of machines, and the mean over tasks."""
    from nrm.agents import by_size

    return {
        "tasks": [{**one._asdict(), "trained_on": known} for one, known in zip(outcomes, trained, strict=True)],
        "sizes": [size._asdict() for size in by_size(outcomes)],
        "success_rate": sum(one.success_rate for one in outcomes) / len(outcomes),
    }


def print_outcomes(outcomes: Sequence[TaskOutcome], trained: Sequence[bool]) -> None:
    """Tables by task and by the size of machines."""
    rows = list(zip(outcomes, trained, strict=True))
    hidden = len(rows) > MAX_LISTED
    if hidden:
        rows = sorted(rows, key=lambda row: row[0].success_rate)[:WORST]
    cells = [
        (
            one.name,
            str(one.states),
            f"{one.success_rate:.1%}",
            "-" if one.mean_steps is None else f"{one.mean_steps:.1f}",
            "trained on" if known else "never seen",
        )
        for one, known in rows
    ]
    headings = ("task", "states", "success", "steps to success", "")
    title = f"The {len(rows)} of {len(outcomes)} tasks that fail most (--json has all)" if hidden else ""
    plain_console().print(table(headings, cells, numbers=headings[1:4], title=title))
    if len(outcomes) > 1:
        print_sizes(outcomes)


def print_sizes(outcomes: Sequence[TaskOutcome]) -> None:
    """Success by the size of machines."""
    from nrm.agents import by_size

    cells = [
        (
            str(size.least) if size.least == size.most else f"{size.least} to {size.most}",
            str(size.tasks),
            f"{size.success_rate:.1%}",
            f"{size.worst:.1%}",
        )
        for size in by_size(outcomes)
    ]
    headings = ("states of the machine", "tasks", "success", "of the worst task")
    plain_console().print(table(headings, cells, numbers=headings[1:]))
