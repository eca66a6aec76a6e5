"""The formulas that agents of many tasks are tried on: a reader's, and held-out ones of the family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nrm.aliases import Json
from nrm.errors import ConfigError, NrmError
from nrm.machines import MooreMachine, TaskSet, not_asked, task_view, view_columns
from nrm.report.drawing import machine_data
from nrm.report.steps import SEED
from nrm.runs import RunConfig
from nrm.samplers import FILE_PREFIX, Sampler, TemplateSampler, sample_tasks

SHOWN = 6
"""Formulas of which episodes are played, besides those that the reader asked for."""
MAX_COLUMNS = 20
"""Letters in the picture of a view."""


class Given(NamedTuple):
    """What an environment makes of a reader's formulas."""

    machines: dict[MooreMachine, str]
    """Those that it understands, with their names."""
    refused: dict[str, str]
    """Why it does not understand the others."""


@dataclass(frozen=True)
class Formulas:
    """What agents are tried on."""

    pool: TaskSet
    origin: tuple[str, ...]
    """Of each: given (by the reader), drawn (held out of the family), longer (than the family draws), or trained."""
    wanted: int
    """How many of the first were asked for by the reader."""

    @property
    def shown(self) -> list[int]:
        """Those of which episodes are played: all that were asked for, and some others from small to large."""
        others = sorted(range(self.wanted, len(self.pool)), key=lambda number: self.pool.machines[number].states)
        places = np.unique(np.linspace(0, len(others) - 1, min(SHOWN, len(others))).round().astype(np.int64))
        return [*range(self.wanted), *(others[place] for place in places)]

    @property
    def unseen(self) -> list[int]:
        """Those that nobody was trained on."""
        return [number for number, origin in enumerate(self.origin) if origin != "trained"]

    def data(self) -> Json:
        """The formulas for a page; of those that are shown, their machines and what a policy sees of them."""
        shown = self.shown
        rows = []
        for number, (machine, name) in enumerate(zip(self.pool.machines, self.pool.names, strict=True)):
            row: Json = {"formula": name, "states": machine.states, "origin": self.origin[number]}
            if number in shown:
                row |= {"machine": machine_data(machine), "view": view_data(machine)}
            rows.append(row)
        # One of the middle says more at first sight than the smallest.
        first = 0 if self.wanted else shown[len(shown) // 2]
        return {"formulas": rows, "shown": shown, "first": first}


def understood(config: RunConfig, texts: Sequence[str]) -> Given:
    """The formulas of a reader that make sense in the environment of a run."""
    given = Given({}, {})
    for text in texts:
        try:
            task = config.task_named(text)
            machine = task.machine()
        except NrmError as error:
            given.refused[text] = str(error)
            continue
        if why := not_asked(machine):
            given.refused[text] = f"the task {text} {why}; there is nothing to execute"
        else:
            given.machines.setdefault(machine, task.title)
    return given


def choose(config: RunConfig, trained: Sequence[TaskSet], count: int, given: Given) -> Formulas:
    """The formulas that were asked for, and so many of a run's family that nobody was trained on.

    `trained`: what each of the agents was trained on. Where the family has no others, longer ones are taken; where
    there are none either, as of a file, some that were trained on.
    """
    known = {machine for pool in trained for machine in pool.machines}
    found = {machine: (name, "given") for machine, name in given.machines.items()}
    for machine, named in _held_out(config, known, count).items():
        found.setdefault(machine, named)
    if len(found) == len(given.machines):
        some = trained[0].subset(range(min(count, len(trained[0]))))
        for machine, name in zip(some.machines, some.names, strict=True):
            found.setdefault(machine, (name, "trained"))
    names = tuple(name for name, _ in found.values())
    origin = tuple("trained" if machine in known else origin for machine, (_, origin) in found.items())
    return Formulas(TaskSet(tuple(found), names), origin, len(given.machines))


def _held_out(config: RunConfig, known: Iterable[MooreMachine], count: int) -> dict[MooreMachine, tuple[str, str]]:
    """Tasks of the family that are not known, with their names and where they come from; perhaps fewer, or none."""
    space = config.env_config.task_space()
    if space is None or str(config.tasks).startswith(FILE_PREFIX):
        return {}
    alphabet, events = space
    family, most = config.settings["family"], config.settings["tasks"].max_states
    sources: list[tuple[Sampler, str]] = [(family, "drawn")]
    if isinstance(family, TemplateSampler) and family.at("max_steps"):
        sources.append((replace(family, max_steps=family.at("max_steps") + 1), "longer"))
    found: dict[MooreMachine, tuple[str, str]] = {}
    for source, origin in sources:
        if len(found) < count:
            without = (*known, *found)
            try:
                pool = sample_tasks(
                    source, alphabet, count - len(found), SEED, events=events, max_states=most, without=without
                )
            except ConfigError:  # it has no others
                continue
            found |= {machine: (name, origin) for machine, name in zip(pool.machines, pool.names, strict=True)}
    return found


def view_data(machine: MooreMachine) -> Json:
    """The view of a task from each of its states, letter by letter: what helps and what loses, now and next."""
    names = view_columns(machine.alphabet)
    letters = len(names)
    view = task_view(machine)
    blocks = view[:, :-1].reshape(machine.states, 4, letters)
    columns = np.arange(letters)
    if letters > MAX_COLUMNS:  # the letters of which the task says most
        columns = np.sort(np.argsort(-np.abs(blocks).sum((0, 1)), kind="stable")[:MAX_COLUMNS])
    return {
        "letters": [names[int(letter)] for letter in columns],
        "numbers": columns.tolist(),
        "hidden": letters - len(columns),
        "states": np.round(blocks[:, :, columns], 2).tolist(),
        "left": np.round(view[:, -1], 2).tolist(),
    }
