"""Grids as small TOML files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nrm.errors import GridError, NrmError
from nrm.files import line_of, parse_toml, read_text
from nrm.machines import is_machine_file
from nrm.runs.sections import read_section
from nrm.sweeps.grid import Grid


def load_grid(path: Path | str) -> Grid:
    """Read a grid file: the fields of `Grid` as keys, `[settings.SECTION]` and `[variants.NAME.SECTION]` as tables.

    Task files that it names lie relative to it.
    """
    return grid_from_toml(read_text(path), str(path), Path(path).parent)


def grid_from_toml(text: str, source: str = "grid file", folder: Path | None = None) -> Grid:
    """Read the text of a grid file; `source` names it in errors, `folder` is where its task files are."""
    data = parse_toml(text, source, GridError)
    if "tasks" not in data:
        raise GridError(f"{source}: the key 'tasks' is missing, such as tasks = [1, 2]")
    if isinstance(data["tasks"], list):
        data["tasks"] = [str(task) if type(task) is int else task for task in data["tasks"]]
    try:
        grid: Grid = read_section(Grid, data, "")
        grid = replace(grid, tasks=tuple(_task(task, folder) for task in grid.tasks))
        _ = grid.cells
    except NrmError as error:
        raise GridError(f"{source}{_line_about(text, data, str(error))}: {error}") from None
    return grid


def _line_about(text: str, data: Mapping[str, Any], message: str) -> str:
    """The line of what an error is about: the value or name it quotes, the setting or key that it names, or nothing."""
    lines = [line.split("#")[0] for line in text.splitlines()]
    quoted, named = re.findall(r"'([^']+)'", message)[:1], re.findall(r"\b[a-z_]+\.([a-z_]+)\b", message)[:1]
    patterns = [rf"(?<![\w-]){re.escape(value.split('.')[-1])}(?![\w-])" for value in quoted]
    patterns += [rf"(?<![\w-]){setting}\s*=" for setting in named]
    for pattern in patterns:
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line):
                return f", line {number}"
    for word in re.findall(r"\w+", message):
        if word in data and (line := line_of(text, word)):
            return line
    return ""


def _task(text: str, folder: Path | None) -> str:
    """A task as the grid means it: files lie beside the grid file."""
    return str(folder / text) if folder is not None and (text.endswith(".toml") or is_machine_file(text)) else text
