"""Languages of tasks: what each must give so that a task can be written in it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from nrm.aliases import Symbol, Trace
from nrm.automata import Dfa, Limits
from nrm.errors import FileError, FormulaError, FormulaSyntaxError, shorten
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
    """Whether a non-empty trace satisfies a formula."""
    hint: Callable[[Value, Iterable[tuple[str, ...]] | None], str] | None = None
    """What the writer of a formula over propositions may not have meant, in words; empty for nothing. The second
    argument lists what may hold together; None if anything may."""
    reader: Reader[Any] | None = None
    """How it reads text, to tell a formula that stands in the place of another language's."""
    words: Callable[[Value], str] | None = None
    """A formula in plain English."""
    marks: str = ""
    """A regular expression that finds what only this language writes."""
    strengthened: Callable[[Value], Sequence[tuple[Value, Value]]] | None = None
    """Parts of a formula, each with what is left of it when all that it asks for is false: to find vacuous truth."""


LANGUAGES: Registry[Language[Any]] = Registry(
    "logic",
    ("label", "parse", "dfa", "holds"),
    {
        "ltlf": "nrm.logic.ltlf",
        "ldlf": "nrm.logic.ldlf",
        "ppltl": "nrm.logic.ppltl",
        "re": "nrm.logic.regex",
        "ltlf+": "nrm.logic.infinite",
        "ppltl+": "nrm.logic.infinite",
        "ltl": "nrm.logic.infinite",
    },
)

DEFAULT_LOGIC = "ltlf"

_NAMED = re.compile(r"\s*([A-Za-z_][\w.]*(?::[A-Za-z_]\w*|\+)?)\s*:\s(.*)", re.DOTALL)
"""A language's name in front of a formula: `re: (!lava)*; gem`, or `my_module:LANGUAGE: …`."""

_PATH = re.compile(r"(?=.*[/\\]|.*\w\.[A-Za-z]\w{1,7}$)[\w./\\~:-]+")
"""What looks like a path: there is a slash in it, or an ending."""


class Reading(NamedTuple):
    """A formula, and the language that it is in."""

    formula: FormulaValue
    logic: str


def read_formula(formula: FormulaValue | str, logic: str = DEFAULT_LOGIC) -> Reading:
    """Read a formula in a language; text may name its language itself, in front, and then that counts: `re: a; b`."""
    if isinstance(formula, str) and (named := _NAMED.fullmatch(formula)):
        check_named(formula, logic)
        return Reading(LANGUAGES[named[1]].parse(named[2]), named[1])
    try:
        return Reading(LANGUAGES[logic].parse(formula), logic)
    except FormulaSyntaxError:
        if not isinstance(formula, str) or not _PATH.fullmatch(formula):
            raise
        what = "holds no task and no machine" if os.path.exists(formula) else "does not exist"
        raise FileError(f"'{formula}' is no formula, and a file or folder of that name {what}") from None


def named_formula(text: str, logic: str = DEFAULT_LOGIC) -> str:
    """A formula's text with the name of its language in front, as `read_formula` takes it; LTLf needs none."""
    return text if logic == DEFAULT_LOGIC or _NAMED.fullmatch(text) else f"{logic}: {text}"


def inherited_logic(text: object, logic: str) -> str:
    """The language of a formula beside another of that `logic`: of no account where a text names its own in front."""
    return DEFAULT_LOGIC if isinstance(text, str) and _NAMED.fullmatch(text) else logic


def check_named(text: str, logic: str) -> None:
    """`FormulaError` where a text names another language in front than the one that is asked for."""
    named = _NAMED.fullmatch(text)
    if named and logic not in (DEFAULT_LOGIC, named[1]):
        raise FormulaError(
            f"'{shorten(text)}' says that it is in {named[1]}, and the logic that is asked for is {logic}; drop one of "
            "the two"
        )
