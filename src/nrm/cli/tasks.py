"""`nrm tasks`: what can be asked for by name."""

from __future__ import annotations

import json
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
        if self.json:
            print(json.dumps(_as_dict(), indent=2))
            return 0
        console = Console(highlight=False)
        papers = Table(box=SIMPLE_HEAD, title="The paper's tasks (--task N or NAME)", title_justify="left")
        for heading in ("N", "name", "class", "pattern", "formula"):
            papers.add_column(heading, overflow="fold")
        for task in PAPER_TASKS:
            papers.add_row(str(task.number), task.name, str(task.task_class), task.pattern, str(task.formula()))
        console.print(papers)
        patterns = Table(box=SIMPLE_HEAD, title="Patterns (call them in any formula)", title_justify="left")
        for heading in ("pattern", "meaning", "formula"):
            patterns.add_column(heading, overflow="fold")
        for pattern in PATTERNS.values():
            patterns.add_row(pattern.example, pattern.summary, str(parse(pattern.example)))
        console.print(patterns)
        return 0


def _as_dict() -> dict[str, object]:
    return {
        "tasks": [
            {
                "number": task.number,
                "name": task.name,
                "class": task.task_class,
                "pattern": task.pattern,
                "formula": str(task.formula()),
            }
            for task in PAPER_TASKS
        ],
        "patterns": [
            {
                "name": pattern.name,
                "example": pattern.example,
                "meaning": pattern.summary,
                "formula": str(parse(pattern.example)),
            }
            for pattern in PATTERNS.values()
        ],
    }
