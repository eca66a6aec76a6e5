"""What finished and unfinished runs left behind, as values for statistics, figures and reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nrm.agents import METHODS
from nrm.envs import find_env
from nrm.errors import ConfigError, FileError
from nrm.files import LIMITS, read_json
from nrm.machines import Task, task_from_toml
from nrm.registry import received
from nrm.runs import Column, Family, OneTask, Renaming, RunConfig, RunFolder, sources_of

ACCURACIES = ("accuracy", "balanced_accuracy", "accuracy_modulo_shortcuts")
"""Columns of grounding.csv. The last one is NaN where a task has too many symmetries to look at."""

NEVER = "no"
"""The setting `extended` of runs that were not trained further than they were made for."""


@dataclass(frozen=True, eq=False)
class Record:
    """One run as its folder tells it."""

    path: Path
    config: RunConfig
    about: OneTask | Family
    env: str
    """The environment's title: what the agent sees, and how it varies."""
    variant: str
    """What the grid that made the run calls its settings; empty for the settings as they are."""
    metrics: dict[str, Column]
    """Columns of metrics.csv, one entry per episode: episode, steps, return, length, success."""
    grounding: dict[str, Column] | None
    """Columns of grounding.csv: episode, and the `ACCURACIES`; None where nothing was grounded."""
    cpu_seconds: float | None
    """What the run has cost so far, over all its resumptions; None where that is unknown."""
    steps: int | None = None
    """Steps of all environments so far; None where only the ends of episodes tell."""
    sources: str = ""
    """What the modules of an environment from outside were when the run began, as a digest."""
    note: str = ""
    """What is wrong with it although it can be used; empty for nothing."""

    @property
    def task(self) -> Task | None:
        """None where every episode has one of many."""
        return None if self.config.tasks else self.about.task

    @property
    def method(self) -> str:
        """The method's name."""
        return self.config.method

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self.config.seed

    @property
    def returns(self) -> Column:
        """(episodes,) the return of each episode."""
        return self.metrics["return"]

    @property
    def done(self) -> bool:
        """Whether all episodes are there, or all steps."""
        return self.reached >= self.config.amount

    @property
    def reached(self) -> int:
        """Episodes so far, or steps where the run counts these."""
        if self.config.unit == "episodes":
            return len(self.returns)
        ended = int(self.metrics["steps"][-1]) if len(self.returns) else 0
        return ended if self.steps is None else self.steps

    @property
    def subject(self) -> str:
        """What the run is about, in a few words: the task's name, or the family of its tasks."""
        return self.about.words

    @cached_property
    def settings(self) -> dict[str, str]:
        """Every setting by its path, as text. What the environment's title says already is left out."""
        config = self.config
        names = ("env", "algorithm", "num_envs", "end", config.length_option[2:].replace("-", "_"))
        settings = {name: str(getattr(config, name)) for name in names}
        settings["extended"] = ", ".join(map(str, config.extended)) or NEVER
        for section, values in config.settings.items():
            plain = values if isinstance(values, Mapping) else asdict(values)
            # Plain values are those of a method or environment that cannot be found any more.
            said = config.env_config.titled if section == "env" and plain is not values else ()
            settings |= {f"{section}.{name}": setting_text(value) for name, value in plain.items() if name not in said}
        return settings

    def last_return(self, last: int = 100) -> float:
        """The mean return of the last episodes."""
        return float(self.returns[-last:].mean())

    def accuracy_at(self, name: str, episodes: ArrayLike) -> Column:
        """One of the `ACCURACIES` after each of some episodes: what an update reaches holds until the next update."""
        assert self.grounding is not None
        updates = np.searchsorted(self.grounding["episode"], episodes, side="right") - 1
        held: Column = self.grounding[name][np.maximum(updates, 0)]
        return held

    @property
    def right_from(self) -> float | None:
        """Steps of all environments after which the grounder named everything right for the first time; None if never.

        Plainly, and over all observations that its accuracy is measured on.
        """
        if self.grounding is None:
            return None
        right = np.flatnonzero(self.grounding["accuracy"] >= 1.0)
        if not len(right):
            return None
        episode = int(self.grounding["episode"][right[0]])
        return float(self.metrics["steps"][episode - 1]) if episode else 0.0

    def last_accuracy(self, name: str) -> float | None:
        """One of the `ACCURACIES` of the grounder at the end; None where it is unknown."""
        if self.grounding is None or not len(self.grounding[name]):
            return None
        value = float(self.grounding[name][-1])
        return value if math.isfinite(value) else None


@received()
def read_record(path: Path) -> Record:
    """The run in a folder. It must have a checkpoint's metrics."""
    folder = RunFolder(path)
    config = _config(folder)
    missing = _missing(config)
    notes = [f"only its numbers are shown: {missing}"] if missing else []
    metrics = _plausible(folder.metrics(), path / "metrics.csv")

    def grounding() -> dict[str, Column] | None:
        found = folder.grounding()
        return None if found is None else _plausible(found, path / "grounding.csv", len(metrics["episode"]))

    def part(what: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except FileError as error:
            notes.append(f"its {what} is left out: {error}")
            return None

    return Record(
        path=path,
        config=config,
        about=config.about if config.tasks else OneTask.of(_task(config.task)),
        env=config.env if isinstance(config.settings["env"], Mapping) else config.env_title,
        variant=part("variant", lambda: _variant(path / "cell.json")) or "",
        metrics=metrics,
        grounding=part("grounding", grounding),
        cpu_seconds=part("cost", lambda: folder.cpu_seconds() if (path / "cost.json").exists() else None),
        steps=folder.steps(),
        sources=part("versions", lambda: sources_of(path)) or "",
        note="; ".join(notes),
    )


def read_records(
    folder: Path | str, progress: Callable[[int, int], None] | None = None
) -> tuple[list[Record], dict[Path, str]]:
    """All runs below a folder, by path, and the problems of folders that could not be read.

    A run whose method, environment or cost is unknown is in both: its numbers can still be shown. `progress` is called
    with the number of folders read and their total.
    """
    root = Path(folder)
    if not root.is_dir():
        what = f"{root} is a file" if root.exists() else f"there is no folder {root}"
        raise FileError(f"{what}; give the folder that holds the runs")
    records: list[Record] = []
    problems: dict[Path, str] = {}
    configs = sorted(root.rglob("config.json"))
    report = progress or (lambda *_: None)
    for number, config in enumerate(configs):
        report(number, len(configs))
        path = config.parent
        if not (path / "metrics.csv").exists():
            continue
        try:
            record = read_record(path)
        except Exception as error:  # modules from outside may raise anything
            problems[path] = str(error) or type(error).__name__
            continue
        if record.done and not len(record.returns):  # means of nothing are no numbers
            problems[path] = (
                f"no episode has ended in its {record.reached:,} steps; make episodes shorter, or train for longer: "
                f"nrm train --resume {path} --total-timesteps {10 * record.config.amount}"
            )
            continue
        records.append(record)
        if record.note:
            problems[path] = record.note
    report(len(configs), len(configs))
    return records, problems


def _config(folder: RunFolder) -> RunConfig:
    """The configuration; of a method or environment that cannot be found, with its settings as plain values."""
    try:
        return folder.config()
    except ConfigError:
        config = RunConfig.plain(read_json(folder.path / "config.json"), Renaming())
        if not _missing(config):
            raise
        return config


def _missing(config: RunConfig) -> str:
    """Why the method, or the environment, of a run cannot be found; empty where they are there."""
    try:
        METHODS[config.method], find_env(config.env)
    except ConfigError as error:
        return str(error)
    return ""


@lru_cache(maxsize=256)
def _task(text: str) -> Task:
    """The task of a text, once it has been seen to compile."""
    task = task_from_toml(text, "the run's task")
    task.acting()
    return task


def _variant(path: Path) -> str:
    return str(read_json(path, dict[str, str | bool]).get("variant", "")) if path.exists() else ""


def _plausible(columns: dict[str, Column], path: Path, episodes: int | None = None) -> dict[str, Column]:
    """The columns, of which no mean overflows; `episodes`: how many the run has, where rows are not episodes."""
    for name, values in columns.items():
        wrong = ~(np.abs(values) <= LIMITS.value)
        if episodes is None:
            counted = name in ("episode", "steps")
            wrong |= (values < 1) | (np.diff(values, prepend=0) < 0) if counted else False
        else:
            wrong = (values < 0) | (values > episodes) if name == "episode" else wrong & ~np.isnan(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise FileError(f"{path} is damaged: line {row + 2} has {values[row]} as {name}")
    return columns


def setting_text(value: object) -> str:
    """A setting as people read it: `none` for nothing, `size 4, noise 0.1` for arguments."""
    if value is None or value == {}:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return str(tuple(value) if isinstance(value, list) else value)
