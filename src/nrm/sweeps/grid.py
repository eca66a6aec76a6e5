"""The grid of an experiment: environments x tasks (or families of them) x methods x seeds x variants."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nrm.agents import METHODS
from nrm.aliases import Json
from nrm.envs import End, EnvConfig
from nrm.errors import GridError, unknown
from nrm.logic import DEFAULT_LOGIC, is_paper_task, named_formula, paper_task
from nrm.machines import is_machine_file, task_toml
from nrm.runs import (
    MANY_SECTIONS,
    Choice,
    RunConfig,
    choose_algorithm,
    choose_run,
    converted,
    default_sections,
    env_as_set,
)
from nrm.samplers import FILE_PREFIX, SAMPLERS

GRID_VERSION = 2
OWN = "own"
"""In a list of tasks: the one that an environment brings along."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
AXES = ("envs", "methods", "seeds", "variants")
WHOLE_RUN = {
    "recipe": str,
    "algorithm": str,
    "total_episodes": int,
    "total_timesteps": int | None,
    "num_envs": int | None,
    "end": End,
}
"""What a variant may change besides settings by section."""


@dataclass(frozen=True)
class Cell:
    """One run of a grid."""

    name: str
    """The name of its folder; the same grid gives the same names."""
    variant: str
    """The name of the configuration change; empty for none."""
    config: RunConfig


@dataclass(frozen=True)
class Grid:
    """Every combination of the lists below is a run. Wrong grids are refused whole, before anything is trained."""

    tasks: tuple[str, ...] = ()
    """Paper tasks (1 to 8, or names), formulas over the environment's symbols, task files (.toml), machine files, or
    own: the ready task of each environment."""
    envs: tuple[str, ...] = ("map",)
    """What the agent sees: map, image, image-episode, minigrid:ID, gym:ID, or module:name."""
    methods: tuple[str, ...] = ("rm", "nrm", "rnn")
    """What the agent knows and remembers."""
    seeds: tuple[int, ...] = (0,)
    """Seeds of training."""
    algorithm: str = "auto"
    """How it learns: a2c, ppo, module:name, or auto, which goes by the environment."""
    recipe: str = "auto"
    """The settings to start from: a recipe such as paper, a TOML file, none, or auto: the environment's own."""
    families: tuple[str, ...] = ()
    """Families of tasks: in each of these runs another task with every episode. Beside tasks, or in their place."""
    total_episodes: int = 10_000
    """Episodes of each run."""
    total_timesteps: int | None = None
    """Steps of all environments of each run, in place of episodes."""
    num_envs: int | None = None
    """Environments that step side by side; the recipe or the algorithm says otherwise."""
    end: End = "outcome"
    """When the task ends an episode: outcome, absorbing or limit."""
    logic: str = DEFAULT_LOGIC
    """The language of the formulas among the tasks; one may also name its own in front: "re: (!lava)*; gem"."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Changes of the recipe in every run, by section, such as {"algorithm": {"learning_rate": 0.002}}. The section of
    a method (grounding, recurrent) is for the runs of that method alone."""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    """Named changes to compare, each over `settings`; besides sections a variant may change recipe, algorithm,
    total_episodes, total_timesteps, num_envs and end."""

    def __post_init__(self) -> None:
        if not self.tasks and not self.families:
            raise GridError("the grid is empty: tasks lists nothing")
        for axis in ("tasks", "families", *AXES):
            values = list(getattr(self, axis))
            if not values and axis in AXES:
                raise GridError(f"the grid is empty: {axis} lists nothing")
            for value in values:
                if values.count(value) > 1:
                    raise GridError(f"conflicting cells: {axis} lists {value!r} twice")
        if min(self.seeds) < 0:
            raise GridError(f"seeds are 0 or more, not {min(self.seeds)}")
        for name in self.variants:
            if name and not NAME.fullmatch(name):
                raise GridError(
                    f"the variant '{name}' cannot name a folder; use letters, digits, '.', '_' and '-', and begin with "
                    "a letter or digit"
                )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The runs, seeds outermost, so that a part of the grid says something about all of it early."""
        cells = tuple(self._cells())
        _refuse_conflicts(cells)
        seen = set()
        for cell in cells:  # a task that does not fit its environment or its end is found now, not after hours
            config = cell.config
            family = str(config.settings.get("family"))
            if (key := (config.task, family, config.env, str(config.settings["env"]), config.end)) not in seen:
                seen.add(key)
                _rehearse(config)
        return cells

    def _cells(self) -> Iterator[Cell]:
        for seed in self.seeds:
            for env in self.envs:
                for task, family in (*((task, None) for task in self.tasks), *((None, name) for name in self.families)):
                    listed: list[RunConfig] = []
                    for variant in self.variants:
                        for method in self.methods:
                            cell = self._cell(env, task, family, method, seed, variant)
                            # A variant of another method's settings is no other run.
                            if not (self._is_idle(variant, cell.config) and cell.config in listed):
                                listed.append(cell.config)
                                yield cell

    def _is_idle(self, variant: str, config: RunConfig) -> bool:
        """Whether a variant changes a section that a run does not have."""
        changes = self.variants[variant].items()
        return any(isinstance(value, Mapping) and name not in config.settings for name, value in changes)

    def _cell(self, env: str, task: str | None, family: str | None, method: str, seed: int, variant: str) -> Cell:
        whole: dict[str, Any] = {name: getattr(self, name) for name in WHOLE_RUN}
        changes: dict[str, dict[str, Any]] = {}
        for source in (self.settings, self.variants[variant]):
            for name, value in source.items():
                if isinstance(value, Mapping):
                    changes[name] = _joined(changes.get(name, {}), value)
                elif name in WHOLE_RUN and source is not self.settings:
                    whole[name] = converted(value, WHOLE_RUN[name], name)
                else:
                    raise GridError(self._misplaced(name))
        also = [section for name in self.methods if (section := METHODS[name].section)]
        also += MANY_SECTIONS if self.families else ()
        place = env_as_set(env, changes)
        whole["algorithm"] = self._algorithm(env, whole["algorithm"], family, place)
        config = choose_run(self._in_logic(task), env, method, seed, settings=changes, tasks=family, also=also, **whole)
        title = re.sub(r"[^A-Za-z0-9._-]+", "-", config.env_title)
        subject = _family_name(family) if task is None and family is not None else _task_name(str(task), config)
        parts = (title, subject, method.replace(":", "-"), variant, f"seed{seed}")
        return Cell("-".join(part for part in parts if part), variant, config)

    def _algorithm(self, env: str, algorithm: str, family: str | None, place: EnvConfig) -> Choice:
        """The algorithm of some cells. An environment that is made to find it is made once for all of them."""
        key = (env, algorithm, family, str(place))
        if key not in self._algorithms:
            self._algorithms[key] = choose_algorithm(place, algorithm, family)
        return self._algorithms[key]

    @cached_property
    def _algorithms(self) -> dict[tuple[str, str, str | None, str], Choice]:
        return {}

    def _in_logic(self, task: str | None) -> str | None:
        """A task of the list in the grid's language, where it is a formula."""
        if task is None or task == OWN:
            return None
        written = not (is_paper_task(task) or task.endswith(".toml") or is_machine_file(task))
        return named_formula(task, self.logic) if written else task

    def _misplaced(self, name: str) -> str:
        """What to say of a setting that stands in no section."""
        family = self.families[0] if self.families else None
        sections: dict[str, Any] = {}
        for method in self.methods:
            sections |= default_sections(env_as_set(self.envs[0]), method, self.algorithm, tasks=family)
        for section, values in sections.items():
            if name in [item.name for item in fields(values)]:
                return f"'{name}' is a setting of the section '{section}'; write {section}.{name} = …"
        return unknown("setting", name, (*WHOLE_RUN, *sections))

    def to_json(self) -> Json:
        """The grid as JSON values, with the names of its cells."""
        return {"version": GRID_VERSION, **asdict(self), "cells": [cell.name for cell in self.cells]}


@dataclass(frozen=True)
class Grids:
    """Several grids in one folder, whose cells are trained in the order of the grids."""

    grids: tuple[Grid, ...]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The runs of all of them."""
        # Copies, so that a grid that is there twice is seen to be.
        cells = tuple(replace(cell) for grid in self.grids for cell in grid.cells)
        _refuse_conflicts(cells)
        return cells

    def to_json(self) -> Json:
        """The grids as JSON values, with the names of their cells."""
        grids = [asdict(grid) for grid in self.grids]
        return {"version": GRID_VERSION, "grids": grids, "cells": [cell.name for cell in self.cells]}


def paper_grid(
    envs: Sequence[str] = ("map", "image"),
    tasks: Sequence[str] = ("1", "2", "3", "4", "5", "6", "7", "8"),
    methods: Sequence[str] = ("rm", "nrm", "rnn"),
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    total_episodes: int = 10_000,
    recipe: str = "auto",
) -> Grid:
    """The paper's experiments: 8 tasks x 3 methods x 5 seeds x 10,000 episodes in both environments."""
    return Grid(tuple(tasks), tuple(envs), tuple(methods), tuple(seeds), recipe=recipe, total_episodes=total_episodes)


def _task_name(text: str, config: RunConfig) -> str:
    """A short name for files. Texts that look alike differ in the digits, which depend on the whole task."""
    if text == OWN:
        return OWN
    if is_paper_task(text):
        return f"task{paper_task(text).number}"
    stem = Path(text).stem if text.endswith(".toml") or is_machine_file(text) else text
    return f"{_slug(stem) or 'task'}-{hashlib.sha256(config.task.encode()).hexdigest()[:6]}"


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, where the second one wins; tables in them, such as `kwargs`, are joined in the same way."""
    result = dict(first)
    for name, value in second.items():
        old = result.get(name)
        result[name] = _joined(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def _family_name(family: str) -> str:
    """The same of a family; digits tell files and modules of one name apart."""
    if family in SAMPLERS:
        return family
    stem = Path(family).stem if family.startswith(FILE_PREFIX) else family
    return f"{_slug(stem) or 'family'}-{hashlib.sha256(family.encode()).hexdigest()[:6]}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:32].strip("-")


def _rehearse(config: RunConfig) -> None:
    """Build the environment of a run, of many tasks with a single one: drawing them all takes a while."""
    if config.tasks is not None:
        few = replace(config.settings["tasks"], count=1)
        config = replace(config, settings={**config.settings, "tasks": few})
    config.build_env(1)


def _refuse_conflicts(cells: Sequence[Cell]) -> None:
    """Two cells may be neither the same run under two names nor two runs under the same name."""
    by_content: dict[str, Cell] = {}
    by_name: dict[str, Cell] = {}
    for cell in cells:
        nameless = cell.config
        if nameless.tasks is None:
            nameless = replace(nameless, task=task_toml(replace(nameless.build_task(), name="")))
        content = json.dumps(nameless.to_json(), sort_keys=True)
        for seen, key, what in (
            (by_content, content, "are the same run; drop one of them"),
            (by_name, cell.name.lower(), "would share a folder; rename one of the variants"),
        ):
            if (other := seen.setdefault(key, cell)) is not cell:
                if other.name == cell.name:
                    raise GridError(f"conflicting cells: the grid lists {cell.name} twice")
                raise GridError(f"conflicting cells: {other.name} and {cell.name} {what}")
