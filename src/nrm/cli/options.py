"""What the commands share: how a task is named on the command line."""

from __future__ import annotations

from dataclasses import dataclass

import tyro

from nrm.errors import NrmError
from nrm.logic import DEFAULT_LIMITS, Limits, parse
from nrm.machines import Alphabet, RewardScheme, Task, load_task
from nrm.machines.alphabet import split_names


class UsageError(NrmError):
    """Options that contradict each other, or that are missing."""


@dataclass(frozen=True)
class TaskOptions:
    """A task, given as a formula, as one of the paper's tasks, or as a task file."""

    formula: tyro.conf.Positional[str | None] = None
    """The task in LTLf, for example "F a & G !b"; patterns may be called in it: "visit(a, b)"."""
    symbols: str | None = None
    """Comma-separated symbols, exactly one of which holds at each step: a,b,c,d,e."""
    propositions: str | None = None
    """Comma-separated propositions, any of which may hold at a step. The default: those of the formula."""
    task: str | None = None
    """One of the paper's tasks instead of a formula, by number (1 to 8) or name; see 'nrm tasks'."""
    file: str | None = None
    """A task file (TOML) instead of a formula."""
    reward: str | None = None
    """How states get levels: distance (the default), three_value, acceptance, distinct, or numbers: 0,50,100."""
    max_states: int = DEFAULT_LIMITS.states
    """Give up, with a clear message, past this many states."""

    @property
    def limits(self) -> Limits:
        """The work that compiling may do."""
        if self.max_states < 1:
            raise UsageError(f"--max-states must be at least 1, not {self.max_states}")
        return Limits(states=self.max_states)

    def resolve(self) -> Task:
        """The task that the options name."""
        given = [name for name in ("formula", "task", "file") if getattr(self, name) is not None]
        if len(given) != 1:
            problem = "no task is given" if not given else f"{' and '.join(given)} are given together"
            raise UsageError(f'{problem}; give one of: a formula such as "F a & G !b", --task N, --file TASK.toml')
        alphabet = self._alphabet()
        if self.file is not None:
            if alphabet is not None:
                raise UsageError("a task file names its own symbols; drop --symbols and --propositions")
            task = load_task(self.file)
        elif self.task is not None:
            task = Task.from_paper(self.task, alphabet)
        else:
            formula = parse(self.formula or "")
            if alphabet is None and not formula.atoms():
                raise UsageError(f"the formula '{formula}' names no symbol; add --symbols or --propositions")
            task = Task(formula, alphabet or Alphabet.propositional(formula.atoms()), name=formula.brief())
        if self.reward is not None:
            task = Task(task.formula, task.alphabet, reward_from_text(self.reward), task.name)
        return task

    def _alphabet(self) -> Alphabet | None:
        if self.symbols is not None and self.propositions is not None:
            raise UsageError("give either --symbols (exactly one holds at a step) or --propositions, not both")
        if self.symbols is not None:
            return Alphabet.exclusive(split_names(self.symbols))
        if self.propositions is not None:
            return Alphabet.propositional(split_names(self.propositions))
        return None


def reward_from_text(text: str) -> RewardScheme:
    """A scheme's name, or custom levels: `0,50,100`."""
    parts = split_names(text)
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        if len(parts) != 1:
            raise UsageError(f"--reward takes a scheme's name or numbers separated by commas, not '{text}'") from None
        return text
