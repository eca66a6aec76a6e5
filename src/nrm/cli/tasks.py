"""`nrm tasks`: what can be asked for by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nrm.cli.arguments import HiddenSettings, check_family, chosen_family
from nrm.cli.options import UsageError
from nrm.cli.terminal import plain_console, table
from nrm.errors import listing
from nrm.logic import PAPER_TASKS, PATTERNS, parse
from nrm.machines import Alphabet, TaskSet, alphabet_of
from nrm.samplers import SAMPLERS, Sampler, sample_tasks
from nrm.shortcuts import TaskSetShortcuts, task_set_shortcuts

LETTERS = Alphabet.exclusive([*"abcdefghijkl", "empty"])
"""The symbols of tasks that are drawn when none are named: LetterWorld's."""
TRY_PROPOSITIONS = "See what it means with --propositions a,b,c,d"
"""The way out where a family means nothing."""


@dataclass(frozen=True)
class Tasks:
    """List the paper's tasks, the named patterns and the families; or draw some tasks of a family."""

    family: str | None = None
    """Draw tasks of this family: a name, file:PATH for a list of formulas, or module:name. Its settings are options:
    --family reach --family.max-steps 5; --help beside it lists them."""
    count: int = 5
    """How many tasks to draw."""
    seed: int = 0
    """Equal seeds draw equal tasks."""
    symbols: str | None = None
    """Comma-separated symbols of the drawn tasks, exactly one of which holds at each step: a to l and empty when
    absent."""
    propositions: str | None = None
    """Comma-separated propositions of the drawn tasks instead, any of which may hold at a step."""
    json: bool = False
    """Print JSON instead of tables."""
    settings: HiddenSettings = field(default_factory=dict)

    def run(self) -> int:
        """Print the lists, or the tasks that were drawn."""
        check_family(self.family, self.settings)
        if self.family is not None:
            return self._draw(self.family)
        if self != type(self)(json=self.json):
            raise UsageError("--count, --seed, --symbols and --propositions are for drawn tasks; add --family NAME")
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
        kinds = [SAMPLERS[name] for name in SAMPLERS]
        families = [{"name": kind.name, "meaning": kind.label, "example": kind.example} for kind in kinds]
        if self.json:
            print(json.dumps({"tasks": tasks, "patterns": patterns, "families": families}, indent=2))
            return 0
        _print("The paper's tasks (--task N or NAME)", {"number": "N"}, tasks)
        _print("Patterns (call them in any formula)", {"name": "", "example": "pattern"}, patterns)
        _print("Families of tasks (draw some with --family NAME)", {}, families)
        return 0

    def _draw(self, family: str) -> int:
        """Draw tasks, and say what they teach together."""
        chosen = chosen_family(family, self.settings)
        pool = draw_family(chosen, self.count, self.seed, self.symbols, self.propositions)
        rows = [
            {
                "formula": name,
                "states": machine.states,
                "steps": int(machine.distance_to_acceptance[machine.initial]),
            }
            for name, machine in zip(pool.names, pool.machines, strict=True)
        ]
        found = task_set_shortcuts(pool)
        if self.json:
            print(json.dumps({"family": family, "tasks": rows, **family_json(found)}, indent=2))
            return 0
        _print(f"Tasks of the family {family} (seed {self.seed})", {"steps": "steps at least"}, rows)
        plain_console().print(verdict(found))
        if note := alone_note(chosen, pool.alphabet):
            print(f"{note}. {TRY_PROPOSITIONS}")
        return 0


def draw_family(family: Sampler, count: int, seed: int, symbols: str | None, propositions: str | None) -> TaskSet:
    """Some tasks of a family over the symbols that the options name."""
    return sample_tasks(family, alphabet_of(symbols, propositions) or LETTERS, count, seed)


def alone_note(family: Sampler, alphabet: Alphabet) -> str:
    """That a family has lost its meaning, because one symbol holds at a time; empty where it has not."""
    lost: str = getattr(family, "alone", "") if alphabet.is_exclusive else ""
    return f"note: where one symbol holds at a time, {lost}" if lost else ""


def family_json(found: TaskSetShortcuts) -> dict[str, object]:
    """What tasks teach together, for scripts."""
    return {"groundable": found.groundable, "confusable": [list(names) for names in found.confusable]}


def verdict(found: TaskSetShortcuts) -> str:
    """What tasks teach together, in a sentence."""
    if found.groundable:
        return "Their rewards together can teach every symbol."
    sets = "; ".join("{" + listing(names) + "}" for names in found.confusable)
    return f"However long one trains, their rewards cannot tell apart: {sets}. Other tasks may."


def _print(title: str, headings: dict[str, str], rows: Sequence[Mapping[str, object]]) -> None:
    """A table with a column a key; `headings` renames some, or leaves them out."""
    columns = {key: headings.get(key, key) for key in rows[0] if headings.get(key, key)}
    texts = [[str(row[key]) for key in columns] for row in rows]
    plain_console().print(table(list(columns.values()), texts, title=title))
