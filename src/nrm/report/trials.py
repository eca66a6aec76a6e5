"""Agents of many tasks on tasks that they were never trained on: how often these are done, and some episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nrm.agents import TaskOutcome, Trainer, by_size, evaluate_tasks
from nrm.aliases import Json
from nrm.errors import ConfigError, NrmError
from nrm.machines import MooreMachine, TaskSet, not_asked, task_view, view_columns
from nrm.report.drawing import Tiles, machine_data
from nrm.report.learned import family_words
from nrm.report.recording import SEED, NoPictureError, noted, record_task
from nrm.results import Group, Record
from nrm.runs import RunConfig, RunFolder
from nrm.samplers import FILE_PREFIX, Sampler, TemplateSampler, sample_tasks

EPISODES = 25
"""Of each formula that an agent is tried on."""


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
        places = np.unique(np.linspace(0, len(others) - 1, min(6, len(others))).round().astype(np.int64))
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
    if letters > 20:  # the letters of which the task says most
        columns = np.sort(np.argsort(-np.abs(blocks).sum((0, 1)), kind="stable")[:20])
    return {
        "letters": [names[int(letter)] for letter in columns],
        "numbers": columns.tolist(),
        "hidden": letters - len(columns),
        "states": np.round(blocks[:, :, columns], 2).tolist(),
        "left": np.round(view[:, -1], 2).tolist(),
    }


class Loaded(NamedTuple):
    """A run whose agent can be tried."""

    group: int
    """The number of its group on the page."""
    record: Record
    trainer: Trainer


class Tried(NamedTuple):
    """What became of the agents of many tasks on a page."""

    trials: list[Json]
    """Formulas, and what the rewards of all that was trained on can teach."""
    groups: dict[int, Json]
    """By the number of a group: what belongs to it. Its `trial` is the place of its formulas among the trials."""


def try_agents(
    groups: Sequence[Group],
    tiles: Tiles,
    problems: dict[Path, str],
    recorded: int,
    count: int,
    tasks: Sequence[str],
    progress: Callable[[int, int], None],
) -> Tried:
    """Try `recorded` agents of each group on the reader's `tasks` and on so many formulas of the family.

    Those of one family in one environment share their formulas. `tiles` takes the pictures of episodes, `problems`
    what is wrong with runs; `progress` is told how many groups are done, and of how many.
    """
    kinds = _kinds(groups)
    if tasks and not kinds:
        raise ConfigError(
            f"the task {tasks[0]} is for agents of many tasks, and there is no run of such; train one with 'nrm train "
            "--tasks mixture'"
        )
    given = [understood(next(iter(kind.values())).records[0].config, tasks) for kind in kinds]
    for task in tasks:
        if all(task in one.refused for one in given):
            raise ConfigError(given[0].refused[task])
    tried = Tried([], {})
    for kind, wanted in zip(kinds, given, strict=True):
        progress(len(tried.groups), sum(map(len, kinds)))
        _try(kind, recorded, count, wanted, tiles, problems, tried)
    if kinds:
        progress(sum(map(len, kinds)), sum(map(len, kinds)))
    return tried


def _kinds(groups: Sequence[Group]) -> list[dict[int, Group]]:
    """The groups of many tasks by family and environment, with their numbers."""
    kinds: dict[tuple[object, ...], dict[int, Group]] = {}
    for number, group in enumerate(groups):
        config = group.records[0].config
        # The settings of an environment that cannot be found any more are plain values.
        if group.many and not isinstance(config.settings["env"], Mapping):
            kinds.setdefault((group.env, group.task, config.alphabet), {})[number] = group
    return list(kinds.values())


def _try(
    kind: Mapping[int, Group],
    recorded: int,
    count: int,
    given: Given,
    tiles: Tiles,
    problems: dict[Path, str],
    tried: Tried,
) -> None:
    agents: list[Loaded] = []
    for number, group in kind.items():
        for record in group.finished or group.records:
            if sum(agent.group == number for agent in agents) < recorded:
                with noted(record, problems):
                    agents.append(Loaded(number, record, RunFolder(record.path).load_policy()))
    first = next(iter(kind.values())).records[0]
    trained = [agent.trainer.tasks for agent in agents if agent.trainer.tasks is not None]
    try:
        pool = trained[0] if trained else first.config.pool
    except NrmError as error:  # the file of a family may be gone
        problems.setdefault(first.path, f"its tasks cannot be drawn: {error}")
        return
    assert pool is not None
    trial: Json = {"words": family_words(pool, first.family), "formulas": [], "shown": [], "first": 0}
    formulas = choose(first.config, trained, count, given) if trained else None
    trial |= {} if formulas is None else formulas.data()
    for number in kind:
        mine = [agent for agent in agents if agent.group == number]
        data = {"tried": None, "recordings": []} if formulas is None else _group(mine, formulas, tiles, problems)
        tried.groups[number] = {**data, "trial": len(tried.trials)}
    tried.trials.append(trial)


def _group(agents: Sequence[Loaded], formulas: Formulas, tiles: Tiles, problems: dict[Path, str]) -> Json:
    outcomes, seeds, recordings = [], [], list[Json]()
    for _, record, trainer in agents:
        with noted(record, problems):
            outcomes.append(evaluate_tasks(trainer, record.config.build_env, formulas.pool, EPISODES, SEED))
            seeds.append(record.seed)
            with suppress(NoPictureError):
                for number in formulas.shown:  # each in a layout of its own where layouts vary
                    machine, seed = formulas.pool.machines[number], SEED + number
                    played = record_task(record.config, trainer, machine, tiles, seed=seed, belief="open-loop")
                    recordings.append({"seed": record.seed, "formula": number, **played})
    return {"tried": _together(outcomes, seeds, formulas) if outcomes else None, "recordings": recordings}


def _together(tried: Sequence[Sequence[TaskOutcome]], seeds: Sequence[int], formulas: Formulas) -> Json:
    """Means over runs: formula by formula; and of those that nobody was trained on, by the size of machines."""
    means = []
    for outcomes in zip(*tried, strict=True):
        steps = [one.mean_steps for one in outcomes if one.mean_steps is not None]
        rate = float(np.mean([one.success_rate for one in outcomes]))
        means.append(outcomes[0]._replace(success_rate=rate, mean_steps=float(np.mean(steps)) if steps else None))
    unseen = [means[number] for number in formulas.unseen]
    sizes = by_size(unseen or means)
    return {
        "seeds": list(seeds),
        "episodes": EPISODES,
        "success": [round(one.success_rate, 4) for one in means],
        "steps": [None if one.mean_steps is None else round(one.mean_steps, 1) for one in means],
        "mean": round(float(np.mean([one.success_rate for one in unseen])), 4) if unseen else None,
        "sizes": [
            {**size._asdict(), "success_rate": round(size.success_rate, 4), "worst": round(size.worst, 4)}
            for size in sizes
        ],
    }
