"""`nrm tasks`: what can be asked for by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nrm.logic import PAPER_TASKS, PATTERNS, parse


@dataclass(frozen=True)
class Tasks:
    """List the paper's tasks and the named patterns."""

    json: bool = False
    """Print JSON instead of tables."""

    def run(self) -> int:
        """Print the lists."""
        tasks = [
            {
                "number": task.number,
                "name": task.name,
                "class": task.task_class,
                "pattern": task.pattern,
                "formula": str(task.formula()),
            }
            for task in PAPER_TASKS
        ]
        patterns = [
            {"name": p.name, "example": p.example, "meaning": p.summary, "formula": str(parse(p.example))}
            for p in PATTERNS.values()
        ]
        if self.json:
            print(json.dumps({"tasks": tasks, "patterns": patterns}, indent=2))
            return 0
        _print("The paper's tasks (--task N or NAME)", {"number": "N"}, tasks)
        _print("Patterns (call them in any formula)", {"name": "", "example": "pattern"}, patterns)
        return 0


def _print(title: str, headings: dict[str, str], rows: Sequence[Mapping[str, object]]) -> None:
    """A table with a column a key; `headings` renames some, or leaves them out."""
    columns = {key: headings.get(key, key) for key in rows[0] if headings.get(key, key)}
    table = Table(*columns.values(), box=SIMPLE_HEAD, title=title, title_justify="left")
    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        table.add_row(*(str(row[key]) for key in columns))
    Console(highlight=False).print(table)
