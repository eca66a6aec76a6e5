"""Grids as small TOML files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nrm.agents.config import AgentConfig
from nrm.errors import GridError, NrmError, listing, suggestion
from nrm.files import line_of, parse_toml, read_text
from nrm.lab.grid import Grid

KEYS = tuple(item.name for item in dataclasses.fields(Grid))
SETTINGS = tuple(item.name for item in dataclasses.fields(AgentConfig))


def load_grid(path: Path | str) -> Grid:
    """Read a grid file: the fields of `Grid` as keys, `[settings]` and `[variants.NAME]` as tables.

    Task files that it names lie relative to it.
    """
    return grid_from_toml(read_text(path), str(path), Path(path).parent)


def grid_from_toml(text: str, source: str = "grid file", folder: Path | None = None) -> Grid:
    """Read the text of a grid file; `source` names it in errors, `folder` is where its task files are."""
    data = parse_toml(text, source, GridError)

    def fail(key: str, message: str) -> GridError:
        return GridError(f"{source}{line_of(text, key)}: {message}")

    for key in data:
        if key not in KEYS:
            raise fail(key, f"unknown key '{key}'{suggestion(key, KEYS)} (keys: {listing(KEYS)})")
    if "tasks" not in data:
        raise GridError(f"{source}: the key 'tasks' is missing, such as tasks = [1, 2]")
    for key, value in data.items():
        if not _FORMS[key][0](value):
            raise fail(key, f"'{key}' must be {_FORMS[key][1]}, not {value!r}")
    tables = [(data.get("settings", {}), SETTINGS)]
    tables += [(table, (*SETTINGS, "preset", "layout", "end")) for table in data.get("variants", {}).values()]
    for table, known in tables:
        for name in table:
            if name not in known:
                raise fail(name, f"unknown setting '{name}'{suggestion(name, known)} (settings: {listing(known, 40)})")
    for key in ("worlds", "methods", "seeds"):
        if key in data:
            data[key] = tuple(data[key])
    data["tasks"] = tuple(_task(str(task), folder) for task in data["tasks"])
    try:
        grid = Grid(**data)
        _ = grid.cells
    except NrmError as error:
        raise GridError(f"{source}{_line_about(text, str(error))}: {error}") from None
    return grid


def _line_about(text: str, message: str) -> str:
    """The line of the first value that an error quotes, or nothing where the file does not spell it so."""
    for value in re.findall(r"'([^']+)'", message)[:1]:
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w.-])", line.split("#")[0]):
                return f", line {number}"
    return ""


def _task(text: str, folder: Path | None) -> str:
    return str(folder / text) if folder is not None and text.endswith(".toml") else text


def _is_value(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _is_settings(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_value, value.values()))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "tasks": (_list_of(lambda value: _is_text(value) or _is_number(value)), "a list of tasks"),
    "worlds": (_list_of(_is_text), "a list of names"),
    "methods": (_list_of(_is_text), "a list of names"),
    "seeds": (_list_of(_is_number), "a list of whole numbers"),
    "preset": (_is_text, "a name"),
    "episodes": (_is_number, "a whole number"),
    "layout": (_is_text, "a name"),
    "end": (_is_text, "a name"),
    "settings": (_is_settings, "a table of settings"),
    "variants": (lambda value: isinstance(value, dict) and all(map(_is_settings, value.values())), "a table of tables"),
}
"""For each key of the file: what its value must be, as a check and in words."""
