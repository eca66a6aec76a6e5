"""What the commands share: how a task is named on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from nrm.automata import DEFAULT_LIMITS, Limits
from nrm.cli.arguments import Count, Mark, UsageError
from nrm.errors import shorten
from nrm.logic import DEFAULT_LOGIC, check_named, is_paper_task, looks_back, named_formula, read_formula
from nrm.machines import (
    FallOff,
    MooreMachine,
    Outputs,
    Overlap,
    RewardScheme,
    Task,
    alphabet_of,
    is_machine_file,
    load_machine,
    load_task,
    own_alphabet,
    split_names,
    with_rewards,
)

Formula = Annotated[str | None, Mark("FORMULA")]
Logic = Annotated[str, Mark("LANGUAGE")]
Names = Annotated[str | None, Mark("NAMES")]


@dataclass(frozen=True)
class TaskOptions:
    """A task, given as a formula, as one of the paper's tasks, or as a task file."""

    formula: Annotated[str | None, Mark("FORMULA", positional=True)] = None
    """The task, for example "F a & G !b"; patterns may be called in it: "visit(a, b)". In LTLf, unless --logic says
    otherwise."""
    symbols: Names = None
    """Comma-separated symbols, exactly one of which holds at each step: a,b,c,d,e."""
    propositions: Names = None
    """Comma-separated propositions, any of which may hold at a step. The default: those of the formula."""
    task: Annotated[str | None, Mark("N")] = None
    """One of the paper's tasks instead of a formula, by number (1 to 8) or name; see 'nrm tasks'."""
    file: Annotated[str | None, Mark("TASK.toml")] = None
    """A task file (TOML) instead of a formula."""
    reward: Annotated[str | None, Mark("SCHEME")] = None
    """How states get potentials: distance (the default), three_value, acceptance, distinct, or numbers: 0,50,100."""
    max_states: Count = DEFAULT_LIMITS.states
    """Give up, with a clear message, past this many states."""
    logic: Logic = DEFAULT_LOGIC
    """The language of the formula: ltlf, ldlf, ppltl (pure past), re (regular expressions), or module:name."""

    @property
    def limits(self) -> Limits:
        """The work that compiling may do."""
        return Limits(states=self.max_states)

    def _given(self) -> list[str]:
        return [name for name in ("formula", "task", "file") if getattr(self, name) is not None]

    def resolve(self) -> Task:
        """The task that the options name."""
        given = self._given()
        if len(given) != 1:
            problem = "no task is given" if not given else f"{' and '.join(given)} are given together"
            raise UsageError(f'{problem}; give one of: a formula such as "F a & G !b", --task N, --file TASK.toml')
        for option, text in (("--task", self.task), ("a formula", self.formula)):
            if text is not None and text.endswith(".toml"):
                raise UsageError(f"'{text}' is a task file, not {option.removeprefix('--')}; write --file {text}")
            if text is not None and is_machine_file(text):
                raise UsageError(
                    f"'{text}' is a machine file, not {option.removeprefix('--')}; compile, check, shortcuts and train "
                    f"take it as --machine {text}"
                )
        if self.formula is None and self.logic != DEFAULT_LOGIC:
            raise UsageError(f"--logic {self.logic} is for formulas; drop it, since --{given[0]} says everything")
        alphabet = alphabet_of(self.symbols, self.propositions)
        if self.file is not None:
            if alphabet is not None:
                raise UsageError("a task file names its own symbols; drop --symbols and --propositions")
            task = load_task(self.file)
        elif self.task is not None:
            if not re.fullmatch(r"\s*[\w-]+\s*", self.task):  # a misspelt name is told which ones there are
                raise UsageError(
                    f"--task takes one of the paper's tasks, by number (1 to 8) or name, not '{shorten(self.task)}'; "
                    "give a formula without --task"
                )
            task = Task.from_paper(self.task, alphabet)
        else:
            assert self.formula is not None
            formula, logic = read_formula(self.formula, self.logic)
            task = Task(
                formula, alphabet or own_alphabet(formula), name=named_formula(formula.brief(), logic), logic=logic
            )
        return task if self.reward is None else replace(task, reward=reward_from_text(self.reward))


@dataclass(frozen=True)
class Source:
    """A machine, and what is known of where it comes from."""

    machine: MooreMachine
    title: str
    """The formula, or the name of the machine file."""
    scheme: RewardScheme | None
    """The reward scheme; None when a machine file says the potentials."""
    from_file: bool
    paid: bool = False
    """Whether the outputs are what a step pays, instead of potentials."""
    looks_back: bool = False
    """Whether the formula is of LTLf and looks back only."""


@dataclass(frozen=True)
class MachineOptions(TaskOptions):
    """A task as above, or a machine file."""

    machine: Annotated[str | None, Mark("FILE")] = None
    """A machine file instead of a task: .json, .dot, .hoa, or .txt as the original reward machine code has it."""
    fall_off: FallOff | None = None
    """Of .txt files: where a state has no edge, an error (the default), the end with reward 0 (terminal), or the end
    with the reward of its last edge to a terminal state, as some versions of the original code pay (terminal_edge)."""
    overlap: Overlap | None = None
    """Of .txt files: where a state has several edges, an error (the default), or the first one (as originally)."""
    outputs: Outputs | None = None
    """Of .txt files: states output potentials (the default), or rewards, also where these add up without end."""

    def source(self) -> Source:
        """The machine that the options name."""
        if self.machine is None:
            given = (("--fall-off", self.fall_off), ("--overlap", self.overlap), ("--outputs", self.outputs))
            if extra := [option for option, value in given if value]:
                raise UsageError(f"{' and '.join(extra)}: for machine files only; add --machine FILE.txt")
            task = self.resolve()
            back = task.logic == DEFAULT_LOGIC and looks_back(task.formula)
            machine = task.machine(self.limits)
            return Source(machine, task.title, task.reward, from_file=False, looks_back=back)
        if clash := self._given():
            raise UsageError(f"a machine file says everything itself; drop {' and '.join(clash)}, or drop --machine")
        loaded = load_machine(
            self.machine,
            symbols=alphabet_of(self.symbols, self.propositions),
            fall_off=self.fall_off,
            overlap=self.overlap,
            outputs=self.outputs,
        )
        name = Path(self.machine).name
        if self.reward is None:
            return Source(loaded, name, None, from_file=True, paid=self.outputs == "rewards")
        scheme = reward_from_text(self.reward)
        return Source(with_rewards(loaded, scheme), name, scheme, from_file=True)


def reward_from_text(text: str) -> RewardScheme:
    """A scheme's name, or custom potentials: `0,50,100`."""
    parts = split_names(text)
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        if len(parts) != 1:
            raise UsageError(f"--reward takes a scheme's name or numbers separated by commas, not '{text}'") from None
        return text


def formula_option(text: str | None, logic: str) -> str | None:
    """What `--task` says in the language of `--logic`, as one text; that language is for formulas alone."""
    if logic == DEFAULT_LOGIC:
        return text
    if text is None or text.endswith(".toml") or is_machine_file(text) or is_paper_task(text):
        raise UsageError(f"--logic {logic} is for a formula as --task; drop it, or give one")
    check_named(text, logic)
    return named_formula(text, logic)
