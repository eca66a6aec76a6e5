"""Task files: a task as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nrm.errors import FormulaError, NrmError, TaskFileError, unknown
from nrm.files import line_of, parse_toml, read_text, write_text
from nrm.logic import DEFAULT_LOGIC, LANGUAGES, Reading, is_paper_task, named_formula, read_formula
from nrm.machines.alphabet import Alphabet
from nrm.machines.formats.json import machine_from_dict, machine_to_dict
from nrm.machines.rewards import RewardScheme, scheme_named
from nrm.machines.task import GivenMachine, Task

TASK_KEYS = ("name", "formula", "task", "machine", "logic", "symbols", "propositions", "letters", "reward", "levels")


def load_task(path: Path | str) -> Task:
    """Read a task file.

    TOML keys: `formula` (patterns may be called in it), `task` (a paper task) or `machine` (the JSON of a machine,
    which says its symbols and potentials itself); `symbols` or `propositions`, and where only some sets of these hold
    together `letters`, a list of lists of their names; optionally `name`, `logic` (the language of
    the formula), `reward` (a scheme) or `levels` (a number per state).
    """
    return task_from_toml(read_text(path), str(path))


def task_from_toml(text: str, source: str = "task file") -> Task:
    """Read the text of a task file; `source` names it in errors."""
    data = parse_toml(text, source, TaskFileError)
    try:
        return _task(data)
    except _KeyError as error:
        raise TaskFileError(f"{source}{line_of(text, error.key)}: {error}") from None


def task_from_text(text: str, alphabet: Alphabet) -> Task:
    """What somebody wrote as a task: a task file (.toml), a paper task over an alphabet, or a formula over it."""
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
    kind = "symbols" if task.alphabet.is_exclusive else "propositions"
    lines = [
        f"name = {_toml(task.name)}",
        f"formula = {_toml(str(task.formula))}",
        f"{kind} = [{', '.join(_toml(symbol) for symbol in task.alphabet.symbols)}]",
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


def _task(data: dict[str, Any]) -> Task:
    for key in data:
        if key not in TASK_KEYS:
            raise _KeyError(key, unknown("key", key, TASK_KEYS))
    for one, other in (("formula", "task"), ("logic", "task"), ("symbols", "propositions"), ("reward", "levels")):
        if one in data and other in data:
            raise _KeyError(other, f"give either '{one}' or '{other}', not both")
    name = _typed(data, "name", str, "text") or ""
    if "machine" in data:
        return _given(data, name)
    alphabet = None
    for key in ("symbols", "propositions"):
        names = _typed(data, key, list, "a list of names")
        if names is not None:
            alphabet = _guarded(key, Alphabet, tuple(names), "exclusive" if key == "symbols" else "propositional")
    if (sets := _typed(data, "letters", list, "a list of lists of names")) is not None:
        if alphabet is None or alphabet.is_exclusive or not all(isinstance(names, list) for names in sets):
            raise _KeyError("letters", "'letters' is a list of lists of names, beside 'propositions'")
        alphabet = _guarded("letters", Alphabet.of_sets, alphabet.symbols, sets)
    reward = _reward(data)
    if "task" in data:
        if not isinstance(data["task"], (int, str)) or isinstance(data["task"], bool):
            raise _KeyError("task", f"'task' must be a number or a name, not {data['task']!r}")
        chosen: Task = _guarded("task", Task.from_paper, data["task"], alphabet)
        return Task(chosen.formula, chosen.alphabet, reward, name or chosen.name)
    logic = _typed(data, "logic", str, "the name of a language") or DEFAULT_LOGIC
    _guarded("logic", LANGUAGES.__getitem__, logic)
    text = _typed(data, "formula", str, "text")
    if text is None:
        raise _KeyError("formula", "the key 'formula' is missing (or 'task', for one of the paper's tasks)")
    formula, logic = _guarded("formula", _formula_of_file, text, logic)
    if alphabet is None:
        raise _KeyError("symbols", "the key 'symbols' is missing (or 'propositions', if several can hold at a step)")
    task: Task = _guarded("formula", Task, formula, alphabet, reward, name or named_formula(text, logic), logic)
    return task


def _formula_of_file(text: str, logic: str) -> Reading:
    """`read_formula`; errors name the key that says the language, and not the option."""
    try:
        return read_formula(text, logic)
    except FormulaError as error:
        written = re.sub(r"add --logic (\w+) \(.*?\)", r'write logic = "\1" in the file', str(error))
        raise FormulaError(written) from None


def _given(data: dict[str, Any], name: str) -> Task:
    """The task of a machine, which says everything else itself."""
    for key in data:
        if key not in ("name", "machine"):
            raise _KeyError(key, f"a machine says everything itself; drop '{key}', or drop 'machine'")
    text = _typed(data, "machine", str, "the JSON of a machine")
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise _KeyError("machine", "'machine' must be the JSON of a machine, as nrm.save_machine writes it") from None
    return Task.from_machine(_guarded("machine", machine_from_dict, read), name or "machine")


def _reward(data: dict[str, Any]) -> RewardScheme:
    levels = _typed(data, "levels", list, "a list of numbers")
    if levels is not None:
        if not all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels):
            raise _KeyError("levels", f"'levels' must hold numbers, not {levels!r}")
        try:
            return tuple(float(level) for level in levels)
        except OverflowError:
            raise _KeyError("levels", "'levels' holds a number that is too large") from None
    scheme = _typed(data, "reward", str, "the name of a scheme")
    if scheme is None:
        return "distance"
    _guarded("reward", scheme_named, scheme)
    return str(scheme)


def _typed(data: dict[str, Any], key: str, kind: type, what: str) -> Any:
    if key in data and not isinstance(data[key], kind):
        raise _KeyError(key, f"'{key}' must be {what}, not {data[key]!r}")
    return data.get(key)


def _guarded(key: str, build: Any, *args: Any) -> Any:
    """Call, and pin an error to the key that caused it."""
    try:
        return build(*args)
    except _KeyError:
        raise
    except NrmError as error:
        raise _KeyError(key, f"in '{key}': {error}") from None


def _toml(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'
