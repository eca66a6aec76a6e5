"""The cells of a grid: the runs that it lists, their names and configurations."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from nrm.agents import METHODS
from nrm.errors import GridError
from nrm.logic import is_paper_task, named_formula, paper_task
from nrm.machines import is_machine_file
from nrm.runs import (
    AUTO,
    MANY_SECTIONS,
    RunConfig,
    RunOptions,
    about,
    choose_run,
    converted,
    env_as_set,
)
from nrm.samplers import FILE_PREFIX, SAMPLERS
from nrm.sweeps.grid import Grid

OWN = "own"
"""In a list of tasks: the one that an environment brings along."""
_HINTS = get_type_hints(RunOptions, include_extras=True)
WHOLE_RUN = {one.name: _HINTS[one.name] for one in fields(RunOptions) if one.name not in ("settings", "logic")}
"""What a variant may change besides settings by section, and the type of each."""


@dataclass(frozen=True)
class Cell:
    """One run of a grid."""

    name: str
    """The name of its folder; the same grid gives the same names."""
    variant: str
    """The name of the configuration change; empty for none."""
    config: RunConfig


def grid_cells(grid: Grid) -> tuple[Cell, ...]:
    """The runs of a grid, once it is seen that no two are in conflict, and that every task fits its environment."""
    cells = refuse_conflicts(tuple(_cells(grid)))
    seen = set()
    for cell in cells:  # a task that does not fit its environment or its end is found now, not after hours
        config = cell.config
        family = str(config.settings.get("family"))
        if (key := (config.task, family, config.env, str(config.settings["env"]), config.end)) not in seen:
            seen.add(key)
            config.about.rehearsal(config).build_env(1)
    return cells


def _cells(grid: Grid) -> Iterator[Cell]:
    suiting: dict[str, tuple[str, str]] = {}
    for seed in grid.seeds:
        for env in grid.envs:
            for subject in grid.tasks:
                known: list[RunConfig] = []
                for variant, changes in grid.variants.items():
                    for method in grid.methods:
                        cell = _cell(grid, env, subject, method, seed, variant, suiting)
                        sections = {name for name, value in changes.items() if isinstance(value, Mapping)}
                        # A variant of another method's settings is no other run.
                        if sections <= set(cell.config.settings) or cell.config not in known:
                            known.append(cell.config)
                            yield cell


def _cell(
    grid: Grid,
    env: str,
    subject: str,
    method: str,
    seed: int,
    variant: str,
    suiting: dict[str, tuple[str, str]],
) -> Cell:
    """One run. `suiting`: algorithms and recipes that were chosen before: an environment may have to be made for it."""
    family = subject if is_sampler(subject) else None
    whole: dict[str, Any] = {name: getattr(grid, name) for name in WHOLE_RUN}
    changes: dict[str, dict[str, Any]] = {}
    for source in (grid.settings, grid.variants[variant]):
        for name, value in source.items():
            if isinstance(value, Mapping):
                changes[name] = _joined(changes.get(name, {}), value)
            elif name in WHOLE_RUN and source is not grid.settings:
                whole[name] = converted(value, WHOLE_RUN[name], name)
            else:
                raise GridError(f"'{name}' stands in no section; write SECTION.{name} = …, or drop it")
    also = [section for name in grid.methods if (section := METHODS[name].section)]
    also += MANY_SECTIONS if any(map(is_sampler, grid.tasks)) else ()
    place = env_as_set(env, changes)
    key = f"{env} {whole['algorithm']} {family} {place}"
    if key not in suiting:
        suiting[key] = about("", family).suits(place, whole["algorithm"])
    whole["algorithm"], usual = suiting[key]
    whole["recipe"] = usual if whole["recipe"] == AUTO else whole["recipe"]
    task = None if family or subject == OWN else _in_logic(subject, grid.logic)
    config = choose_run(task, env, method, seed, settings=changes, tasks=family, also=also, **whole)
    title = re.sub(r"[^A-Za-z0-9._-]+", "-", config.env_title)
    parts = (title, _name(subject, config), method.replace(":", "-"), variant, f"seed{seed}")
    return Cell("-".join(part for part in parts if part), variant, config)


def is_sampler(text: str) -> bool:
    """Whether a text in a list of tasks names a sampler of them, one for each episode."""
    return text in SAMPLERS or text.startswith(FILE_PREFIX) or re.fullmatch(r"[\w.]+:[\w.]+", text) is not None


def _in_logic(task: str, logic: str) -> str:
    """A task of the list in the grid's language, where it is a formula."""
    written = not (is_paper_task(task) or task.endswith(".toml") or is_machine_file(task))
    return named_formula(task, logic) if written else task


def _name(text: str, config: RunConfig) -> str:
    """A short name for files. Texts that look alike differ in the digits, which depend on the whole task."""
    if text == OWN or text in SAMPLERS:
        return text
    if is_paper_task(text):
        return f"task{paper_task(text).number}"
    is_file = text.endswith(".toml") or text.startswith(FILE_PREFIX) or is_machine_file(text)
    stem = Path(text.removeprefix(FILE_PREFIX)).stem if is_file else text
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:32].strip("-") or "task"
    return f"{slug}-{hashlib.sha256((config.task or text).encode()).hexdigest()[:6]}"


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, where the second one wins; tables in them, such as `kwargs`, are joined in the same way."""
    result = dict(first)
    for name, value in second.items():
        old = result.get(name)
        result[name] = _joined(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def refuse_conflicts(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The cells themselves. Two may be neither the same run under two names nor two runs under the same name."""
    by_content: dict[str, Cell] = {}
    by_name: dict[str, Cell] = {}
    for cell in cells:
        nameless = replace(cell.config, task=cell.config.about.content)
        content = json.dumps(nameless.to_json(), sort_keys=True)
        for seen, key, what in (
            (by_content, content, "are the same run; drop one of them"),
            (by_name, cell.name.lower(), "would share a folder; rename one of the variants"),
        ):
            if (other := seen.setdefault(key, cell)) is not cell:
                if other.name == cell.name:
                    raise GridError(f"conflicting cells: the grid lists {cell.name} twice")
                raise GridError(f"conflicting cells: {other.name} and {cell.name} {what}")
    return cells
