"""`nrm tasks`: what can be asked for by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nrm.cli.terminal import plain_console, table
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
    texts = [[str(row[key]) for key in columns] for row in rows]
    plain_console().print(table(list(columns.values()), texts, title=title))
