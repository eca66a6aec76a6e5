"""Runs that differ in nothing but their seed belong together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path

from nrm.agents import METHODS
from nrm.machines.formats.task_file import task_from_toml
from nrm.results import Record
from nrm.results.variants import variant_labels


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
    tasks = _task_names(runs)
    for record, variant in zip(runs, variant_labels(runs), strict=True):
        key = (record.world, tasks[record.config.task], record.method, variant)
        seeds = groups.setdefault(key, {})
        if record.seed in seeds:
            twice[record.path] = f"the same run as {seeds[record.seed].path}; it is counted once"
        else:
            seeds[record.seed] = record
    found = [Group(*key, records=tuple(seeds[seed] for seed in sorted(seeds))) for key, seeds in groups.items()]
    return sorted(found, key=_order), twice


def _order(group: Group) -> tuple[Hashable, ...]:
    methods = tuple(METHODS)
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
