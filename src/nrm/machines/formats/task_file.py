"""Task files: a task as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from nrm.errors import FormulaError, NrmError, TaskFileError, unknown
from nrm.files import line_of, parse_json, parse_toml, read_text, write_text
from nrm.logic import DEFAULT_LOGIC, LANGUAGES, Reading, is_paper_task, named_formula, read_formula
from nrm.machines.alphabet import Alphabet
from nrm.machines.formats.json import machine_from_dict, machine_to_dict
from nrm.machines.rewards import RewardScheme, scheme_named
from nrm.machines.task import GivenMachine, Task, alphabet_of
from nrm.registry import received

Value = TypeVar("Value")


def load_task(path: Path | str, *, trust: bool = False) -> Task:
    """Read a task file (TOML). `trust`: follow a language that it names as module:name.

    Keys: `formula`, `task` (a paper task) or `machine` (the JSON of a machine); `symbols` or `propositions`, and
    `letters`, a list of the sets that occur; optionally `name`, `logic`, and `reward` (a scheme) or `levels` (a
    potential per state).
    """
    with received(trust):
        return task_from_toml(read_text(path), str(path))


def task_from_toml(text: str, source: str = "task file") -> Task:
    """Read the text of a task file; `source` names it in errors."""
    data = parse_toml(text, source, TaskFileError)
    try:
        return _task(data)
    except _KeyError as error:
        raise TaskFileError(f"{source}{line_of(text, error.key)}: {error}") from None


def task_from_text(text: str, alphabet: Alphabet) -> Task:
    """The task that a text names: a task file (.toml), a paper task, or a formula over the alphabet."""
    if text.endswith(".toml"):
        return load_task(text)
    if is_paper_task(text):
        return Task.from_paper(text, alphabet)
    formula, logic = read_formula(text)
    return Task(formula, alphabet, name=text, logic=logic)


def save_task(task: Task, path: Path | str) -> None:
    """Write a task file that `load_task` reads back."""
    write_text(path, task_toml(task))


def task_toml(task: Task) -> str:
    """The task file's text."""
    if isinstance(task.formula, GivenMachine):
        text = json.dumps(machine_to_dict(task.machine()), separators=(",", ":"))
        return f"name = {_toml(task.name)}\nmachine = {_toml(text)}\n"
    lines = [
        f"name = {_toml(task.name)}",
        f"formula = {_toml(str(task.formula))}",
        f"{task.alphabet.noun}s = [{', '.join(_toml(symbol) for symbol in task.alphabet.symbols)}]",
    ]
    if task.alphabet.occurring is not None:
        sets = (task.alphabet.true_symbols(letter) for letter in range(task.alphabet.size))
        lines.append(f"letters = [{', '.join('[' + ', '.join(map(_toml, names)) + ']' for names in sets)}]")
    if task.logic != DEFAULT_LOGIC:
        lines.append(f"logic = {_toml(task.logic)}")
    if isinstance(task.reward, str):
        lines.append(f"reward = {_toml(task.reward)}")
    elif isinstance(task.reward, Mapping) or callable(task.reward):
        raise TaskFileError(
            "a task file holds a reward scheme's name or a list of potentials, not a function or mapping"
        )
    else:
        lines.append(f"levels = [{', '.join(repr(float(level)) for level in task.reward)}]")
    return "\n".join(lines) + "\n"


class _KeyError(NrmError):
    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class _TaskFile(msgspec.Struct):
    """What a task file may say; `load_task` says what it means."""

    name: str = ""
    formula: str | None = None
    task: int | str | None = None
    machine: str | None = None
    logic: str | None = None
    symbols: list[str] | None = None
    propositions: list[str] | None = None
    letters: list[list[str]] | None = None
    reward: str | None = None
    levels: list[float] | None = None


def _task(data: dict[str, Any]) -> Task:
    for key in data:
        if key not in _TaskFile.__struct_fields__:
            raise _KeyError(key, unknown("key", key, _TaskFile.__struct_fields__))
        if "machine" in data and key not in ("name", "machine"):
            raise _KeyError(key, f"a machine says everything itself; drop '{key}', or drop 'machine'")
    for one, other in (("formula", "task"), ("logic", "task"), ("symbols", "propositions"), ("reward", "levels")):
        if one in data and other in data:
            raise _KeyError(other, f"give either '{one}' or '{other}', not both")
    try:
        given = msgspec.convert(data, _TaskFile)
    except msgspec.ValidationError as error:
        key = re.findall(r"\$\.(\w+)", str(error))[0]
        raise _KeyError(key, f"'{key}': {error}") from None
    if given.machine is not None:
        machine = _guarded("machine", lambda: machine_from_dict(parse_json(str(given.machine), "the text")))
        return Task.from_machine(machine, given.name or "machine")
    alphabet = _alphabet(given)
    reward: RewardScheme = given.reward or "distance"
    if given.levels is not None:
        reward = tuple(given.levels)
    elif given.reward is not None:
        _guarded("reward", lambda: scheme_named(str(given.reward)))
    if given.task is not None:
        chosen = _guarded("task", lambda: Task.from_paper(given.task or 0, alphabet))
        return Task(chosen.formula, chosen.alphabet, reward, given.name or chosen.name)
    logic = given.logic or DEFAULT_LOGIC
    _guarded("logic", lambda: LANGUAGES[logic])
    if given.formula is None:
        raise _KeyError("formula", "the key 'formula' is missing (or 'task', for one of the paper's tasks)")
    text = given.formula
    formula, logic = _guarded("formula", lambda: _formula_of_file(text, logic))
    if alphabet is None:
        raise _KeyError("symbols", "the key 'symbols' is missing (or 'propositions', if several can hold at a step)")
    name = given.name or named_formula(text, logic)
    return _guarded("formula", lambda: Task(formula, alphabet, reward, name, logic))


def _alphabet(given: _TaskFile) -> Alphabet | None:
    if given.letters is not None:
        if given.propositions is None:
            raise _KeyError("letters", "'letters' is a list of lists of names, beside 'propositions'")
        names, sets = given.propositions, given.letters
        return _guarded("letters", lambda: Alphabet.of_sets(names, sets))
    key = "symbols" if given.symbols is not None else "propositions"
    return _guarded(key, lambda: alphabet_of(given.symbols, given.propositions))


def _formula_of_file(text: str, logic: str) -> Reading:
    """`read_formula`; errors name the key that says the language, and not the option."""
    try:
        return read_formula(text, logic)
    except FormulaError as error:
        written = re.sub(r"add --logic (\w+) \(.*?\)", r'write logic = "\1" in the file', str(error))
        raise FormulaError(written) from None


def _guarded(key: str, build: Callable[[], Value]) -> Value:
    """Call, and pin an error to the key that caused it."""
    try:
        return build()
    except NrmError as error:
        raise _KeyError(key, f"in '{key}': {error}") from None


def _toml(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'
