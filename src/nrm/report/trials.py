"""Agents of many tasks on tasks that they were never trained on: how often these are done, and some episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nrm.agents import TaskOutcome, by_size, evaluate_tasks
from nrm.aliases import Json
from nrm.errors import ConfigError, NrmError
from nrm.machines import MooreMachine, TaskSet, not_asked, task_view, view_columns
from nrm.report.drawing import Tiles, machine_data
from nrm.report.learned import family_words
from nrm.report.recording import SEED, Agents, load_agents, noted, record_tasks
from nrm.results import Group
from nrm.runs import RunConfig
from nrm.samplers import FILE_PREFIX, Sampler, TemplateSampler, sample_tasks

EPISODES = 25
"""Of each formula that an agent is tried on."""


class Formula(NamedTuple):
    """What agents are tried on."""

    machine: MooreMachine
    name: str
    origin: str
    """given (by the reader), drawn (held out of the family), longer (than the family draws), or trained."""


def understood(config: RunConfig, texts: Sequence[str]) -> tuple[list[Formula], dict[str, str]]:
    """The formulas of a reader that make sense in the environment of a run, and why the others do not."""
    given: dict[MooreMachine, Formula] = {}
    refused = {}
    for text in texts:
        try:
            task = config.task_named(text)
            machine = task.machine()
        except NrmError as error:
            refused[text] = str(error)
            continue
        if why := not_asked(machine):
            refused[text] = f"the task {text} {why}; there is nothing to execute"
        else:
            given.setdefault(machine, Formula(machine, task.title, "given"))
    return list(given.values()), refused


def choose(config: RunConfig, trained: Sequence[TaskSet], count: int, given: Sequence[Formula]) -> list[Formula]:
    """The formulas that were asked for, and so many of a run's family that nobody was trained on.

    `trained`: what each of the agents was trained on. Where the family has no others, longer ones are taken; where
    there are none either, as of a file, some that were trained on.
    """
    known = {machine for pool in trained for machine in pool.machines}
    found = {formula.machine: formula for formula in [*given, *_held_out(config, known, count)]}
    if len(found) == len(given):
        found |= {one.machine: one for one in _formulas(trained[0].subset(range(min(count, len(trained[0])))), "")}
    return [one._replace(origin="trained") if one.machine in known else one for one in found.values()]


def _held_out(config: RunConfig, known: Iterable[MooreMachine], count: int) -> list[Formula]:
    """Tasks of the family that are not known; perhaps fewer, or none."""
    space = config.env_config.task_space()
    if space is None or str(config.tasks).startswith(FILE_PREFIX):
        return []
    alphabet, events = space
    family, most = config.settings["family"], config.settings["tasks"].max_states
    sources: dict[str, Sampler] = {"drawn": family}
    if isinstance(family, TemplateSampler) and family.at("max_steps"):
        sources["longer"] = replace(family, max_steps=family.at("max_steps") + 1)
    found: list[Formula] = []
    for origin, source in sources.items():
        without, more = (*known, *(one.machine for one in found)), count - len(found)
        with suppress(ConfigError):  # it has no others
            if more:
                drawn = sample_tasks(source, alphabet, more, SEED, events=events, max_states=most, without=without)
                found += _formulas(drawn, origin)
    return found


def _formulas(pool: TaskSet, origin: str) -> list[Formula]:
    return [Formula(machine, name, origin) for machine, name in zip(pool.machines, pool.names, strict=True)]


def _shown(formulas: Sequence[Formula], wanted: int) -> list[int]:
    """Those of which episodes are played: the first that were `wanted`, and some others from small to large."""
    others = sorted(range(wanted, len(formulas)), key=lambda number: formulas[number].machine.states)
    places = np.unique(np.linspace(0, len(others) - 1, min(6, len(others))).round().astype(np.int64))
    return [*range(wanted), *(others[place] for place in places)]


def _formula_data(formula: Formula, shown: bool) -> Json:
    """A formula for a page; where it is shown, its machine and what a policy sees of it."""
    machine, name, origin = formula
    more = {"machine": machine_data(machine), "view": view_data(machine)} if shown else {}
    return {"formula": name, "states": machine.states, "origin": origin, **more}


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
    what is wrong with runs; `progress` hears how many groups are done, and of how many.
    """
    kinds = _kinds(groups, problems)
    if tasks and not kinds:
        raise ConfigError(
            f"the task {tasks[0]} needs an agent of many tasks, and there is none; train one with 'nrm train --tasks "
            "mixture'"
        )
    given = [understood(next(iter(kind.values())).records[0].config, tasks) for kind in kinds]
    for task in tasks:
        if all(task in refused for _, refused in given):
            raise ConfigError(given[0][1][task])
    tried, total = Tried([], {}), sum(map(len, kinds))
    for kind, (wanted, _) in zip(kinds, given, strict=True):
        progress(len(tried.groups), total)
        agents = {number: load_agents(group, recorded, problems) for number, group in kind.items()}
        with noted(next(iter(kind.values())).records[0], problems, "no formula was tried"):
            _try(kind, agents, count, wanted, tiles, problems, tried)
    if kinds:
        progress(total, total)
    return tried


def _kinds(groups: Sequence[Group], problems: dict[Path, str]) -> list[dict[int, Group]]:
    """The groups of many tasks by family and environment, with their numbers."""
    kinds: dict[tuple[object, ...], dict[int, Group]] = {}
    for number, group in enumerate(groups):
        config = group.records[0].config
        # The settings of an environment that cannot be found any more are plain values.
        if config.tasks and not isinstance(config.settings["env"], Mapping):
            with noted(group.records[0], problems, "no formula was tried"):
                kinds.setdefault((group.env, group.task, config.alphabet), {})[number] = group
    return list(kinds.values())


def _try(
    kind: Mapping[int, Group],
    agents: Mapping[int, Agents],
    count: int,
    given: Sequence[Formula],
    tiles: Tiles,
    problems: dict[Path, str],
    tried: Tried,
) -> None:
    first = next(iter(kind.values())).records[0]
    loaded = [trainer for mine in agents.values() for _, trainer in mine]
    trained = [pool for trainer in loaded for pool in trainer.tasks.either((), (trainer.tasks,))]
    pool = trained[0] if trained else first.config.pool  # the file of a family may be gone
    assert pool
    formulas = choose(first.config, trained, count, given) if trained else []
    shown = _shown(formulas, len(given)) if formulas else []
    # One of the middle says more at first sight than the smallest.
    middle = shown[len(shown) // 2] if shown and not given else 0
    rows = [_formula_data(formula, number in shown) for number, formula in enumerate(formulas)]
    machines = {number: formulas[number].machine for number in shown}
    words = family_words(pool, first.subject)
    for number, mine in agents.items():
        tried.groups[number] = {
            "trial": len(tried.trials),
            "tried": _outcomes(mine, formulas, problems),
            "recordings": record_tasks(mine, machines, tiles, problems, belief="open-loop"),
        }
    tried.trials.append({"words": words, "formulas": rows, "shown": shown, "first": middle})


def _outcomes(agents: Agents, formulas: Sequence[Formula], problems: dict[Path, str]) -> Json | None:
    outcomes = {}
    for record, trainer in agents:
        with noted(record, problems):
            pool = TaskSet(tuple(one.machine for one in formulas), tuple(one.name for one in formulas))
            outcomes[record.seed] = evaluate_tasks(trainer, record.config.build_env, pool, EPISODES, SEED)
    return _together(list(outcomes.values()), list(outcomes), formulas) if outcomes else None


def _together(tried: Sequence[Sequence[TaskOutcome]], seeds: Sequence[int], formulas: Sequence[Formula]) -> Json:
    """Means over runs: formula by formula; and of those that nobody was trained on, by the size of machines."""
    means = []
    for outcomes in zip(*tried, strict=True):
        steps = [one.mean_steps for one in outcomes if one.mean_steps is not None]
        rate = float(np.mean([one.success_rate for one in outcomes]))
        means.append(outcomes[0]._replace(success_rate=rate, mean_steps=float(np.mean(steps)) if steps else None))
    unseen = [mean for mean, formula in zip(means, formulas, strict=True) if formula.origin != "trained"]
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
