"""Runs that differ in nothing but their seed belong together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nrm.agents import METHODS
from nrm.lab import Record
from nrm.machines.task import task_from_toml


@dataclass(frozen=True)
class Group:
    """The runs of one method on one task in one world with one configuration."""

    world: str
    task: str
    """The task's name; different tasks have different ones here."""
    method: str
    variant: str
    """What is special about the configuration; empty for the usual one."""
    records: tuple[Record, ...]
    """In the order of their seeds."""

    @property
    def counted(self) -> tuple[Record, ...]:
        """The runs that numbers are about: the finished ones, or all while none is finished."""
        return tuple(record for record in self.records if record.done) or self.records


def grouped(records: Iterable[Record]) -> tuple[list[Group], dict[Path, str]]:
    """The groups in reading order, and the runs that were left out because they are there already."""
    groups: dict[tuple[str, str, str, str], dict[int, Record]] = {}
    twice: dict[Path, str] = {}
    runs = list(records)
    tasks, variants = _task_names(runs), _variants(runs)
    for record in runs:
        key = (record.world, tasks[record.config.task], record.method, variants[record.path])
        seeds = groups.setdefault(key, {})
        if record.seed in seeds:
            twice[record.path] = f"the same run as {seeds[record.seed].path}; it is counted once"
        else:
            seeds[record.seed] = record
    found = [Group(*key, records=tuple(seeds[seed] for seed in sorted(seeds))) for key, seeds in groups.items()]
    return sorted(found, key=_order), twice


def _order(group: Group) -> tuple[Hashable, ...]:
    methods: tuple[str, ...] = METHODS
    place = methods.index(group.method) if group.method in methods else len(methods)
    # "map" before "image", as in the paper; "task 10" after "task 9".
    return (group.world[:3] != "map", group.world, _natural(group.task), group.variant, place)


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    parts = re.findall(r"\d+|\D+", text)
    return tuple((int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts)


def _task_names(records: Iterable[Record]) -> dict[str, str]:
    """A name for the text of each task: its own, with its formula, or a number, where that is not enough."""
    names = {record.config.task: record.task for record in records}
    formulas = {text: task_from_toml(text).formula.brief() for text in names}
    often = Counter(names.values())
    for text, name in names.items():
        if often[name] > 1 and formulas[text] != name:
            names[text] = f"{name} ({formulas[text]})"
    taken: Counter[str] = Counter()
    for text, name in names.items():
        taken[name] += 1
        if taken[name] > 1:
            names[text] = f"{name} #{taken[name]}"
    return names


def _variants(records: list[Record]) -> dict[Path, str]:
    """For each run the variant it names, and the settings in which it differs from the usual one of its kind.

    Runs that somebody made with other settings by hand must not be averaged with the rest.
    """
    usual: dict[tuple[str, str], dict[str, str]] = {}
    for kind in dict.fromkeys((record.world, record.variant) for record in records):
        chosen = [_settings(record) for record in records if (record.world, record.variant) == kind]
        (most, _), *_ = Counter(tuple(settings.items()) for settings in chosen).most_common(1)
        usual[kind] = dict(most)
    labels = {}
    for record in records:
        common = usual[record.world, record.variant]
        changes = [f"{name}={value}" for name, value in _settings(record).items() if common.get(name) != value]
        labels[record.path] = ", ".join(filter(None, (record.variant, *changes)))
    return labels


def _settings(record: Record) -> dict[str, str]:
    """Every setting as text. What a world's name tells already is left out."""
    world: Any = record.config.world
    named = ("observation", "layout", "items")
    settings = {**asdict(record.config.agent), **{k: v for k, v in asdict(world).items() if k not in named}}
    settings["items"] = getattr(world, "placements", None)
    return {name: str(value) for name, value in settings.items()}
