"""The eight tasks of the paper's experiments (its appendix, table "Complete analysis")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nrm.errors import FormulaError, listing, suggestion
from nrm.logic.ltlf.formula import Formula, atom, substituted
from nrm.logic.ltlf.parser import parse

PAPER_SYMBOLS = ("a", "b", "c", "d", "e")
"""The five symbols of the paper's alphabet; the last one means "nothing here"."""


@dataclass(frozen=True)
class PaperTask:
    """One task of the paper."""

    number: int
    name: str
    task_class: int
    """1: visits. 2: visits and avoidance."""
    pattern: str
    """The task as patterns over a, b, c, d."""
    shortcuts: int
    """Number of unremovable reasoning shortcuts in the paper, for five symbols (#RS*)."""

    def formula(self, symbols: Sequence[str] = PAPER_SYMBOLS) -> Formula:
        """The formula, with the first of `symbols` for the a, b, c, d of the paper."""
        needed = parse(self.pattern).atoms()
        if len(symbols) < len(needed):
            raise FormulaError(
                f"paper task {self.number} ({self.pattern}) needs at least {len(needed)} symbols, "
                f"but got {len(symbols)}: {listing(symbols)}"
            )
        return substituted(parse(self.pattern), dict(zip(PAPER_SYMBOLS, map(atom, symbols), strict=False)))


PAPER_TASKS = (
    PaperTask(1, "visit-2", 1, "visit(a, b)", 54),
    PaperTask(2, "visit-3", 1, "visit(a, b, c)", 24),
    PaperTask(3, "sequence-2", 1, "sequenced_visit(a, b)", 27),
    PaperTask(4, "sequence-2-visit-1", 1, "sequenced_visit(a, b) & visit(c)", 4),
    PaperTask(5, "visit-2-avoid-1", 2, "visit(a, b) & global_avoidance(c)", 8),
    PaperTask(6, "visit-2-avoid-2", 2, "visit(a, b) & global_avoidance(c, d)", 8),
    PaperTask(7, "sequence-2-avoid-1", 2, "sequenced_visit(a, b) & global_avoidance(c)", 4),
    PaperTask(8, "sequence-2-avoid-2", 2, "sequenced_visit(a, b) & global_avoidance(c, d)", 4),
)


def paper_task(number_or_name: int | str) -> PaperTask:
    """One of the eight tasks, by number (1 to 8) or by name (`nrm tasks` lists them)."""
    key = str(number_or_name).strip().lower().replace("_", "-")
    for task in PAPER_TASKS:
        if key in (str(task.number), task.name):
            return task
    names = [task.name for task in PAPER_TASKS]
    raise FormulaError(
        f"unknown paper task '{number_or_name}'{suggestion(key, names)} (tasks are 1 to 8, or {listing(names)})"
    )


def is_paper_task(text: str) -> bool:
    """Whether a text names one of the paper's tasks, or tries to: by a number, or as `visit-4`, which is no formula."""
    bare = text.strip().lower()
    known = bare.replace("_", "-") in {task.name for task in PAPER_TASKS}
    return known or bare.isdigit() or re.fullmatch(r"[a-z]+(-[a-z0-9]+)*-[0-9]+", bare) is not None
