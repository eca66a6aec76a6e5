"""What the page asks about a task: its machine, what it says, what rewards can teach, and where steps lead."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import NamedTuple

from nrm.aliases import Json
from nrm.automata import Limits
from nrm.errors import FileError, FormulaError, LimitError, NrmWarning, shorten
from nrm.logic import DEFAULT_LOGIC, LANGUAGES, PAPER_SYMBOLS, PAPER_TASKS, is_paper_task, read_formula
from nrm.machines import Alphabet, MooreMachine, Task, is_machine_file, own_alphabet, split_names
from nrm.report import machine_data, shortcut_words
from nrm.shortcuts import Explanation, shortcuts
from nrm.studio.questions import Home, Typed, Walk

LIMITS = Limits(states=2000, cells=2_000_000, nodes=100_000, work=3e7)
"""The work that a formula may cost: a fraction of a second, so that the page stays alive."""


def task_over(text: str, logic: str, alphabet: Alphabet | None, one: bool = False) -> Task:
    """The task of a text, which names no file; over its own symbols where there is no alphabet."""
    if text.strip().endswith(".toml") or is_machine_file(text.strip()):
        raise FormulaError(f"'{shorten(text)}' names a file, and the page reads none; type the formula")
    if is_paper_task(text):
        return Task.from_paper(text, alphabet)
    try:
        formula, named = read_formula(text, logic)
    except FileError:
        raise FormulaError(
            f"'{shorten(text)}' looks like a path, and the page reads no files; type a formula"
        ) from None
    own = alphabet or own_alphabet(formula)
    return Task(formula, Alphabet.exclusive(own.symbols) if one and alphabet is None else own, logic=named)


def machine_of(task: Task) -> MooreMachine:
    """The machine of a task within the limits; of an infinite one that of its rounds."""
    return task.acting() if task.is_infinite else task.machine(LIMITS)


class Compiled(NamedTuple):
    """A task, its machine, and what should be said of it."""

    task: Task
    machine: MooreMachine
    notes: tuple[str, ...]

    def rows(self) -> list[tuple[str, str]]:
        """What the task says, in lines with headings."""
        if not self.task.is_infinite:
            return Explanation(self.task, LIMITS).rows()
        language = LANGUAGES[self.task.logic]
        words = str(language.words(self.task.formula)) if language.words else ""
        return [("in words", words), ("infinite", "when a round is done, the next begins")]


@lru_cache(maxsize=8)
def _compiled(typed: Typed) -> Compiled:
    kind = Alphabet.exclusive if typed.one else Alphabet.propositional
    alphabet = kind(split_names(typed.names)) if typed.names.strip() else None
    task = task_over(typed.text, typed.logic, alphabet, typed.one)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NrmWarning)
        machine = machine_of(task)
    notes = ("This is the machine of one round of an infinite task.",) if task.is_infinite else ()
    return Compiled(task, machine, (*notes, *(str(one.message) for one in caught)))


def draw(home: Home, typed: Typed) -> Json:  # noqa: ARG001 - every answer is given a home
    """The machine of a task, and what it reads."""
    task, machine, notes = _compiled(typed)
    alphabet = machine.alphabet
    return {
        "name": task.title,
        "logic": LANGUAGES[task.logic].label,
        "symbols": list(alphabet.symbols),
        "one": alphabet.is_exclusive,
        "rule": alphabet.rule,
        "notes": list(notes),
        "machine": machine_data(machine),
    }


def explain(home: Home, typed: Typed) -> Json:  # noqa: ARG001 - every answer is given a home
    """What a task says in words, and what its rewards can teach."""
    found = _compiled(typed)
    try:
        words = shortcut_words(shortcuts(found.machine))
    except LimitError as error:
        words = {"sentences": [f"Not analysed: {error}."], "symbols": [], "hidden": 0, "repair": []}
    return {"rows": found.rows(), "words": words}


def walk(home: Home, asked: Walk) -> Json:  # noqa: ARG001 - every answer is given a home
    """Where steps lead: the states, the rewards, and how the task stands."""
    machine = _compiled(Typed(asked.text, asked.logic, asked.names, asked.one)).machine
    alphabet = machine.alphabet
    letters = [alphabet.letter_name(letter) for letter in alphabet.encode(asked.steps)]
    run = machine.run(asked.steps)
    here = run.states[-1]
    status = "violated" if machine.dead[here] else "satisfied" if machine.accepting[here] else "open"
    return {"letters": letters, "states": list(run.states), "rewards": list(run.rewards), "status": status}


def examples() -> list[Json]:
    """Tasks to begin with: those of the paper, and one in each other language."""
    names = ",".join(PAPER_SYMBOLS)
    found = [{"text": task.pattern, "logic": DEFAULT_LOGIC, "names": names, "one": True} for task in PAPER_TASKS]
    others = (LANGUAGES[name] for name in LANGUAGES.own)
    readers = [(one.name, one.reader.example) for one in others if one.reader is not None]
    return [*({"text": text, "logic": logic, "names": "", "one": False} for logic, text in readers), *found]
