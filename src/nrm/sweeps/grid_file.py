"""Grids as small TOML files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from nrm.errors import ConfigError, GridError, NrmError
from nrm.files import parse_toml, read_text
from nrm.machines import is_machine_file
from nrm.registry import received
from nrm.runs import Renaming, read_section
from nrm.samplers import FILE_PREFIX, sampler_of
from nrm.sweeps.expansion import WHOLE_RUN
from nrm.sweeps.grid import Grid


def grid_words(message: str) -> str:
    """The message with fields in place of options of sections; --out and others stay."""
    option = re.compile(r"--([a-z]+\.[a-z]+(?:[.-][a-z]+)*)")
    return option.sub(lambda found: f"settings.{found[1].replace('-', '_')}", message)


def load_grid(path: Path | str, *, trust: bool = False) -> Grid:
    """Read a sweep file: fields of `Grid` as keys, `[settings.SECTION]` and `[variants.NAME.SECTION]` as tables.

    `tasks = "mixture"`, a name instead of a list, is a task sampler. Paths are relative to the file.
    `trust`: import the modules that the file names (module:name).
    """
    with received(trust):
        return grid_from_toml(read_text(path), str(path), Path(path).parent)


def grid_from_toml(text: str, source: str = "grid file", folder: Path | None = None) -> Grid:
    """Read the text of a grid file; `source` names it in errors, `folder` is where its task files are."""
    data = _with_new_names(parse_toml(text, source, GridError), source)
    if "tasks" not in data:
        raise GridError(f"{source}: the key 'tasks' is missing, such as tasks = [1, 2], or tasks = \"mixture\"")
    if isinstance(data.get("tasks"), list):
        data["tasks"] = [str(task) if type(task) is int else task for task in data["tasks"]]
    try:
        if isinstance(data.get("tasks"), str):
            data["tasks"] = [_sampler(data["tasks"], folder)]
        grid: Grid = read_section(Grid, data, "")
        grid = replace(grid, tasks=tuple(_beside(text, folder) for text in grid.tasks))
        _ = grid.cells
    except NrmError as error:
        said = grid_words(str(error))
        raise GridError(f"{source}{_line_about(text, data, said)}: {said}") from None
    return grid


def _with_new_names(data: dict[str, Any], source: str) -> dict[str, Any]:
    """The keys, and the sections of settings and variants, by their new names."""
    renaming = Renaming()

    def renamed(changes: Any) -> Any:
        return renaming.keys(changes, (*WHOLE_RUN, "env")) if isinstance(changes, Mapping) else changes

    try:
        data = renaming.keys(data, [item.name for item in fields(Grid)])
        if "settings" in data:
            data["settings"] = renamed(data["settings"])
        if isinstance(data.get("variants"), Mapping):
            data["variants"] = {name: renamed(changes) for name, changes in data["variants"].items()}
    except ConfigError as error:
        raise GridError(f"{source}: {error}") from None
    renaming.warn()
    return data


def _line_about(text: str, data: Mapping[str, Any], message: str) -> str:
    """The line of what an error is about: the value or name it quotes, the setting or key that it names, or nothing."""
    quoted = [value.rpartition(".")[2] for value in re.findall(r"'([^']+)'", message)[:1]]
    named = re.findall(r"\b[a-z_]+\.([a-z_]+)\b", message)[:1]
    for word in (*quoted, *named, *(word for word in re.findall(r"\w+", message) if word in data)):
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", line.split("#")[0]):
                return f", line {number}"
    return ""


def _sampler(name: str, folder: Path | None) -> str:
    """The sampler that a text in place of a list of tasks names."""
    try:
        sampler_of(_beside(name, folder))
    except ConfigError as error:
        raise GridError(f"tasks: {error}. A list has tasks: tasks = [{json.dumps(name)}]") from None
    return name


def _beside(text: str, folder: Path | None) -> str:
    """A task or sampler as the grid means it: files lie beside the grid file."""
    if folder is None:
        return text
    if text.startswith(FILE_PREFIX):
        return FILE_PREFIX + str(folder / text.removeprefix(FILE_PREFIX))
    return str(folder / text) if text.endswith(".toml") or is_machine_file(text) else text
