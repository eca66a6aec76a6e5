"""Runs grouped by what they are, for tables, figures and pages: those of a group differ in nothing but the seed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from nrm.agents import METHODS, Method
from nrm.envs import ENVS
from nrm.errors import ConfigError, NrmError
from nrm.logic import PAPER_TASKS
from nrm.machines import Task
from nrm.registry import received
from nrm.results.records import NEVER, Record, setting_text
from nrm.runs import Family, OneTask, default_sections, env_as_set


@dataclass(frozen=True)
class Group:
    """The runs of one method on one task in one environment with one set of settings."""

    env: str
    """The environment's title."""
    task: str
    """The task's name, or the family of many tasks; different tasks have different ones here."""
    method: str
    variant: str
    """What is special about the settings: what a grid calls them, and those that are unusual; empty for none."""
    records: tuple[Record, ...]
    """By seed, each run once."""

    @property
    def finished(self) -> tuple[Record, ...]:
        """The runs that are at their end."""
        return tuple(record for record in self.records if record.done)

    @property
    def about(self) -> OneTask | Family:
        """What the runs are about."""
        return self.records[0].about

    @property
    def only(self) -> Task | None:
        """The task, if it is the same in every episode."""
        return self.records[0].task


class Grouping(NamedTuple):
    """The groups of some runs."""

    groups: tuple[Group, ...]
    """In reading order."""
    copies: dict[Path, str]
    """Runs that are there another time, and what to say of them; of two equal runs the one that got further counts."""


@received()
def group_runs(records: Iterable[Record]) -> Grouping:
    """Group runs; equal runs in another order give equal groups."""
    kinds: dict[Hashable, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: str(record.path)):
        content, settings = record.about.content, tuple(record.settings.items())
        kinds[record.env, record.method, content, settings, record.sources].append(record)
    names, variants = _task_names(kinds.values()), _variants(list(kinds.values()))
    copies: dict[Path, str] = {}
    groups = []
    for runs, variant in zip(kinds.values(), variants, strict=True):
        name = names[runs[0].about.content]
        groups.append(Group(runs[0].env, name, runs[0].method, variant, _each_once(runs, copies)))
    return Grouping(tuple(sorted(groups, key=_order)), copies)


@received()
def method_named(name: str) -> Method:
    """How to speak of a method and draw it: as it says itself, or by its name where it cannot be found."""
    try:
        return METHODS[name]
    except ConfigError:
        return Method(name=name, label=name, knows="cannot be found any more", prepare=cast(Any, None))


def method_order(name: str) -> tuple[int, str]:
    """A key that sorts methods as they are registered, and those from outside by name."""
    return _place(name, list(METHODS)), name


def _task_names(kinds: Iterable[Sequence[Record]]) -> dict[str, str]:
    """A name for each task: its own, with its formula, or a number, where that is not enough."""
    given: dict[str, Counter[str]] = defaultdict(Counter)
    formulas: dict[str, str] = {}
    for runs in kinds:
        content = runs[0].about.content
        given[content].update(record.subject for record in runs)
        formulas[content] = runs[0].about.title
    names = {content: _usual(given[content]) for content in sorted(given)}
    often = Counter(names.values())
    taken: Counter[str] = Counter()
    for content, name in names.items():
        if often[name] > 1 and formulas[content] != name:
            names[content] = f"{name} ({formulas[content]})"
        taken[names[content]] += 1
        if taken[names[content]] > 1:
            names[content] += f" #{taken[names[content]]}"
    return names


def _variants(kinds: Sequence[Sequence[Record]]) -> list[str]:
    """What each kind of runs is called in its grid, with the settings in which it differs from most of that name."""
    names = [_usual(Counter(record.variant for record in runs)) for runs in kinds]
    values: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    default: dict[tuple[str, str, str], str] = {}
    defaults = {(runs[0].method, runs[0].config.env): _defaults(runs[0]) for runs in kinds}
    for runs, name in zip(kinds, names, strict=True):
        for setting, value in runs[0].settings.items():
            values[runs[0].env, name, setting][value] += len(runs)
            if defaults[runs[0].method, runs[0].config.env].get(setting) == value:
                default[runs[0].env, name, setting] = value
    usual = {key: _usual(counts, default.get(key)) for key, counts in values.items()}
    labels = []
    for runs, name in zip(kinds, names, strict=True):
        settings = runs[0].settings.items()
        unusual = [f"{key}={value}" for key, value in settings if value != usual[runs[0].env, name, key]]
        labels.append(", ".join(filter(None, (name, *unusual))))
    return labels


def _usual(counts: Counter[str], default: str | None = None) -> str:
    """The most common of some texts; of those that are as common, the default."""
    return min(counts, key=lambda text: (-counts[text], text != default, text == "", text))


def _defaults(record: Record) -> dict[str, str]:
    """The settings that a run of the kind has where nobody changes any; none where its kind cannot be found."""
    config = record.config
    try:
        sections = default_sections(config.env_config, config.method, config.algorithm, tasks=config.tasks)
        sections["env"] = env_as_set(config.env)
    except NrmError:
        return {}
    plain = {
        f"{section}.{name}": setting_text(value)
        for section, values in sections.items()
        for name, value in asdict(values).items()
    }
    return {"extended": NEVER, **plain}


def _each_once(runs: Sequence[Record], copies: dict[Path, str]) -> tuple[Record, ...]:
    kept: dict[int, Record] = {}
    for run in sorted(runs, key=lambda run: -len(run.returns)):
        if run.seed in kept:
            copies[run.path] = f"the same run as {kept[run.seed].path}; it is counted once"
        else:
            kept[run.seed] = run
    return tuple(kept[seed] for seed in sorted(kept))


def _order(group: Group) -> tuple[Any, ...]:
    """Environments and methods as they are registered, the paper's tasks by number, and all else by name."""
    envs = [name for kind in ENVS.values() for name in kind.env_names]
    return (
        _place(group.records[0].config.env, envs),
        _natural(group.env),
        group.about.paper.number if group.about.paper else len(PAPER_TASKS) + 1,
        _natural(group.task),
        _natural(group.variant),
        method_order(group.method),
    )


def _place(name: str, known: Sequence[str]) -> int:
    return known.index(name) if name in known else len(known)


def _natural(text: str) -> list[Any]:
    """A key that sorts "task 10" after "task 9"."""
    digits = re.compile(r"(\d+)").split(text)
    return [(len(part.lstrip("0")), part) if place % 2 else part for place, part in enumerate(digits)]
