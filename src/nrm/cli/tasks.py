"""`nrm tasks`: what can be asked for by name."""

from __future__ import annotations

import json
from dataclasses import dataclass

from nrm.cli.arguments import UsageError
from nrm.cli.options import FamilyOptions, JsonOption, SeedOption
from nrm.cli.terminal import plain_console, print_records, say
from nrm.errors import listing
from nrm.logic import PAPER_TASKS, PATTERNS, parse
from nrm.machines import Alphabet, AlphabetSettings, alphabet_of
from nrm.samplers import SAMPLERS, Sampler, alone_note, sample_tasks
from nrm.shortcuts import TaskSetShortcuts, task_set_shortcuts

LETTERS = Alphabet.exclusive([*"abcdefghijkl", "empty"])
"""The symbols of tasks that are sampled when none are named: LetterWorld's."""


@dataclass(frozen=True, kw_only=True)
class Tasks(FamilyOptions, AlphabetSettings, SeedOption, JsonOption):
    """List the paper's tasks, the patterns and the task samplers; or sample tasks.

    With --family, sample tasks and say which symbols their rewards can teach together. The default symbols are those
    of LetterWorld: a to l, and empty.

    For example:
      nrm tasks
      nrm tasks --family reach --family.max-steps 5
      nrm tasks --family mixture --symbols a,b,c,empty --count 200
    """

    def run(self) -> int:
        """Print the lists, or the tasks that were sampled."""
        family = self.chosen_family()
        if family is not None:
            return self._sample(family)
        if self != type(self)(json=self.json):
            raise UsageError("--count, --seed, --symbols and --propositions need a task sampler: --family NAME")
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
        print_records("The paper's tasks (--task N or NAME)", {"number": "N"}, tasks)
        print_records("Patterns (call them in any formula)", {"name": "", "example": "pattern"}, patterns)
        print_records("Task samplers (--family NAME)", {}, families)
        return 0

    def _sample(self, family: Sampler) -> int:
        """Sample tasks, and say what they teach together."""
        count = 5 if self.count is None else self.count
        pool = sample_tasks(family, alphabet_of(self.symbols, self.propositions) or LETTERS, count, self.seed)
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
            taught = {"groundable": found.groundable, "confusable": [list(names) for names in found.confusable]}
            print(json.dumps({"family": self.family, "tasks": rows, **taught}, indent=2))
            return 0
        print_records(f"Tasks from {self.family} (seed {self.seed})", {"steps": "least steps"}, rows)
        plain_console().print(_verdict(found))
        if note := alone_note(family, pool.alphabet):
            say(f"{note}. Try --propositions a,b,c,d")
        return 0


def _verdict(found: TaskSetShortcuts) -> str:
    """What tasks teach together, in a sentence."""
    if found.groundable:
        return "Together, their rewards can teach every symbol."
    sets = "; ".join("{" + listing(names) + "}" for names in found.confusable)
    return f"However long you train, their rewards cannot separate {sets}. More tasks may."
