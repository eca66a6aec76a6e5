"""Languages of tasks: what each must give so that a task can be written in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from nrm.aliases import Symbol, Trace
from nrm.automata import Dfa, Limits
from nrm.logic.reading import Reader
from nrm.registry import Registry


class FormulaValue(Protocol):
    """A formula of some language: a frozen value whose `str` is text that the language reads back."""

    def atoms(self) -> tuple[Symbol, ...]:
        """The symbols that it speaks of, in order of first appearance."""

    def brief(self) -> str:
        """Text for people to look at, of bounded length."""


Value = TypeVar("Value", bound=FormulaValue)


@dataclass(frozen=True)
class Language(Generic[Value]):
    """A language of tasks. Register one to have it in `Task`, in task files and on the command line."""

    name: str
    label: str
    """The name for people."""
    parse: Callable[[str | Value], Value]
    """Reads text, with syntax errors of its own (`FormulaSyntaxError`); a formula is returned as it is."""
    dfa: Callable[[Value, bool, Limits], Dfa]
    """The minimal automaton over the formula's atoms, of non-empty traces; whether exactly one symbol holds at each
    step, or any subset; and how much work it may take."""
    holds: Callable[[Value, Trace], bool]
    """Whether a non-empty trace satisfies a formula, decided by its meaning: the twin that `dfa` is tested against."""
    hint: Callable[[Value], str] | None = None
    """What the writer of a formula over propositions may not have meant, in words; empty for nothing."""
    reader: Reader | None = None
    """How it reads text, to tell a formula that stands in the place of another language's."""
    marks: str = ""
    """A regular expression that finds what only this language writes."""


LANGUAGES: Registry[Language[Any]] = Registry(
    "logic",
    ("label", "parse", "dfa", "holds"),
    {
        "ltlf": "nrm.logic.ltlf",
        "ldlf": "nrm.logic.ldlf",
        "ppltl": "nrm.logic.ppltl",
        "re": "nrm.logic.regex",
    },
)
