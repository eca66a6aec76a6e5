"""What one run is: a task in an environment, a method, an algorithm, a seed, and how to learn."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from nrm.agents import ALGORITHMS, METHODS, Trainer, new_trainer
from nrm.aliases import Json
from nrm.envs import BatchedEnv, End, EnvConfig, TaskSpace, find_env, many_task_envs
from nrm.errors import ConfigError, FileError, NrmWarning, listing, unknown
from nrm.machines import Alphabet, MooreMachine, Task, TaskSet, load_pool, save_pool, task_from_toml
from nrm.runs.renamed import Renaming, without_retired
from nrm.runs.sections import Sections, base_sections, read_section
from nrm.samplers import TaskSetConfig, sample_tasks
from nrm.shortcuts import task_set_shortcuts

CONFIG_VERSION = 2


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a run: everything that its results depend on."""

    task: str
    """The task, as the text of a task file; empty with many tasks."""
    env: str
    """Name of the environment: map, image, image-episode, minigrid:ID, gym:ID, module:name."""
    method: str
    algorithm: str
    total_episodes: int
    """Number of training episodes."""
    num_envs: int
    """Number of parallel environments."""
    seed: int
    """Equal seeds give equal runs."""
    end: End
    """When an episode ends: outcome, absorbing or limit."""
    settings: Sections
    tasks: str | None = None
    """Task sampler: a name, file:PATH or module:name; None for one task."""
    total_timesteps: int | None = None
    """Number of training steps, summed over environments, in place of episodes."""
    extended: tuple[int, ...] = ()
    """Earlier lengths of a run that was extended, in the same unit."""
    device: str = "cpu"
    """Device of training: cpu, cuda or cuda:NUMBER."""

    def __post_init__(self) -> None:
        for name, least in (("total_episodes", 1), ("num_envs", 1), ("seed", 0), ("total_timesteps", 1)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, not {getattr(self, name)}")

    @property
    def unit(self) -> Literal["episodes", "steps"]:
        """Unit of the length of training: episodes or steps."""
        return "episodes" if self.total_timesteps is None else "steps"

    @property
    def amount(self) -> int:
        """Length of training in this unit."""
        return self.total_episodes if self.total_timesteps is None else self.total_timesteps

    @property
    def length_option(self) -> str:
        """The option that says how long training takes."""
        return "--total-episodes" if self.total_timesteps is None else "--total-timesteps"

    @property
    def env_config(self) -> EnvConfig:
        """The environment as it is set; an error where the module that it comes from is gone."""
        config = self.settings["env"]
        known: EnvConfig = config if isinstance(config, EnvConfig) else find_env(self.env)
        return known

    @property
    def env_title(self) -> str:
        """Short name of the configured environment."""
        return self.env_config.title()

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of the tasks."""
        return self.build_task().alphabet if self.tasks is None else self._task_space().alphabet

    def build_task(self) -> Task:
        """The task."""
        if self.tasks is not None:
            raise ConfigError(f"the run has many tasks, from {self.tasks}, and not one")
        return self._task

    @cached_property
    def _task(self) -> Task:
        return task_from_toml(self.task, "the run's task")

    def knowing(self, task: Task | None) -> RunConfig:
        """The run itself, which need not read its task any more."""
        if task is not None:
            vars(self)["_task"] = task
        return self

    @cached_property
    def pool(self) -> TaskSet | None:
        """The training tasks; None for one task."""
        if self.tasks is None:
            return None
        drawn: TaskSetConfig = self.settings["tasks"]
        kept: Callable[[], TaskSet | None] | None = vars(self).get("_kept")
        return self._drawn(drawn) if kept is None else kept()

    def _drawn(self, drawn: TaskSetConfig) -> TaskSet:
        alphabet, events = self._task_space()
        family = self.settings["family"]
        return sample_tasks(
            family,
            alphabet,
            drawn.count,
            self._tasks_seed,
            events=events,
            max_states=drawn.max_states,
            without=[self.task_named(text) for text in drawn.held_out],
            up_to_renaming=drawn.up_to_renaming,
        )

    @property
    def _tasks_seed(self) -> int:
        seed: int | None = self.settings["tasks"].seed
        return self.seed if seed is None else seed

    @property
    def origin(self) -> Json:
        """Everything that the training tasks are sampled from, as JSON values."""
        drawn: TaskSetConfig = self.settings["tasks"]
        alphabet, events = self._task_space()
        return {
            "family": self.tasks,
            "settings": asdict(self.settings["family"]),
            "count": drawn.count,
            "max_states": drawn.max_states,
            "held_out": list(drawn.held_out),
            **({"up_to_renaming": True} if drawn.up_to_renaming else {}),  # runs from before it came have no such key
            "seed": self._tasks_seed,
            "alphabet": [alphabet.kind, *alphabet.symbols, *(alphabet.occurring or ())],
            "events": [event.brief() for event in events],
        }

    def with_tasks(self, kept: Callable[[], TaskSet | None]) -> RunConfig:
        """The same run, whose tasks, when somebody asks for them, are found and not drawn."""
        known = replace(self)
        object.__setattr__(known, "_kept", kept)
        return known

    def task_named(self, text: str) -> Task:
        """A task over the alphabet of the environment, from its text."""
        return self.env_config.task(text)

    def _task_space(self) -> TaskSpace:
        space = self.env_config.task_space()
        if space is None:
            raise ConfigError(f"the environment '{self.env}' has one task, unlike {listing(many_task_envs())}")
        return space

    def build_env(self, count: int | None = None, tasks: MooreMachine | TaskSet | None = None) -> BatchedEnv:
        """A batch of environments with the training tasks, or with others."""
        given = tasks or self.pool or self.build_task().machine()
        return self.env_config.build(given, count or self.num_envs, self.end)

    def _training_env(self) -> BatchedEnv:
        """The environment as the agent trains on it: episodes may be cut off sooner than in a test."""
        horizon = None if self.tasks is None else self.settings["tasks"].training_horizon
        if horizon is None:
            return self.build_env()
        env = self.settings["env"]
        if not isinstance(getattr(env, "steps", None), int):
            raise ConfigError(f"'{self.env}' has no time limit to shorten; drop --tasks.training-horizon")
        settings = {**self.settings, "env": replace(env, steps=min(horizon, env.steps))}
        shorter = replace(self, settings=settings)
        return shorter.build_env(tasks=self.pool)

    @property
    def initial(self) -> str | None:
        """The folder of the run whose grounder this one begins with, if it begins with one."""
        holders = (section for section in self.settings.values() if hasattr(section, "initial"))
        return next((str(section.initial) for section in holders if section.initial is not None), None)

    def build_trainer(self, grounder: nn.Module | None = None, device: str | torch.device | None = None) -> Trainer:
        """The trainer at the start. `grounder`: a trained grounder to start from; `device`: another device."""
        return new_trainer(
            self._training_env(),
            self.method,
            self.algorithm,
            episodes=self.total_episodes,
            seed=self.seed,
            settings=self.settings,
            grounder=grounder,
            steps=self.total_timesteps,
            device=device or self.device,
        )

    def to_json(self) -> Json:
        """The configuration as JSON values."""
        # What is new and says nothing is left out, so that older releases read most runs.
        silent = {name for name, said in (("extended", self.extended), ("device", self.device != "cpu")) if not said}
        apart = {"settings", *silent}
        plain = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in apart}
        settings = {name: asdict(section) for name, section in self.settings.items()}
        return {"version": CONFIG_VERSION, **plain, "settings": settings}

    @classmethod
    def plain(cls, data: Any, renaming: Renaming) -> RunConfig:
        """The configuration that `to_json` wrote, with settings as JSON values: its modules may be gone."""
        if not isinstance(data, Mapping):
            raise ConfigError(f"a run's configuration is a JSON object, not {type(data).__name__}")
        if data.get("version") != CONFIG_VERSION:
            raise ConfigError(f"the run is of version {data.get('version')!r}; this release reads {CONFIG_VERSION}")
        new = renaming.keys(data, [item.name for item in fields(cls)])
        if isinstance(new.get("settings"), Mapping):
            new["settings"] = renaming.keys(new["settings"], ("env",))
        read: RunConfig = read_section(cls, {key: value for key, value in new.items() if key != "version"}, "")
        return read

    @classmethod
    def from_json(cls, data: Any) -> RunConfig:
        """The configuration that `to_json` wrote."""
        renaming = Renaming()
        read = cls.plain(data, renaming)
        given = read.settings
        defaults = base_sections(find_env(read.env), read.method, ALGORITHMS[read.algorithm].config(), read.tasks)
        if missing := [name for name in defaults if name not in given]:
            raise ConfigError(f"the settings lack the section '{missing[0]}'")
        for name in given:
            if name not in defaults:
                raise ConfigError(unknown("section", name, defaults, " in the settings"))
        settings = {}
        for name, section in defaults.items():
            values = without_retired(name, renaming.section(name, given[name], section))
            if name == "family" and isinstance(values, Mapping):  # what a sampler is called need not be said
                values = {**asdict(section), **values}
            settings[name] = read_section(type(section), values, name)
        renaming.warn()
        return replace(read, settings=settings)


def extended(config: RunConfig, total_episodes: int | None = None, total_timesteps: int | None = None) -> RunConfig:
    """The same run with more episodes or steps to go; it remembers the lengths that it was made for before.

    What changes in the course of training (step size, entropy) goes by the share that is over. So a run that
    was extended is not one that was made for the new length: it came down to the end of these schedules before.
    """
    given = {"total_episodes": total_episodes, "total_timesteps": total_timesteps}
    name = config.length_option.removeprefix("--").replace("-", "_")
    amount = given.pop(name)
    if any(value is not None for value in given.values()):
        raise ConfigError(f"the length of the run is in {config.unit}; use {config.length_option} N")
    if amount is None:
        return config
    if amount <= config.amount:
        more = f"such as {config.length_option} {2 * config.amount}"
        raise ConfigError(f"the run already has {config.amount:,} {config.unit}; give more, {more}")
    return replace(config, **{name: amount, "extended": (*config.extended, config.amount)})  # type: ignore[arg-type]


TASKS_FILE = "tasks.npz"


def keep_tasks(folder: Path, config: RunConfig) -> None:
    """Write the tasks of a run into its folder, where it has many."""
    if config.pool is not None:
        save_pool(folder / TASKS_FILE, config.pool, config.origin)


def check_teaching(config: RunConfig) -> tuple[tuple[str, ...], ...]:
    """The sets of letters that the tasks of a run cannot teach it to tell apart, where it is to learn symbols.

    Raise where they teach nothing at all.
    """
    if config.pool is None or not METHODS[config.method].grounds:
        return ()
    found = task_set_shortcuts(config.pool)
    if len(found.confusable) == 1 and len(found.confusable[0]) == config.pool.alphabet.size:
        raise ConfigError(f"the tasks from {config.tasks} teach nothing: their rewards separate no two symbols")
    return found.confusable


def kept_tasks(folder: Path, config: RunConfig) -> TaskSet | None:
    """The tasks of a run from its folder. What is lost, damaged or of other settings is sampled again, with a warning.

    A list of formulas that was changed since is no reason: the run goes on with the tasks that it was begun with.
    """
    if config.tasks is None:
        return None
    path = folder / TASKS_FILE
    try:
        pool, origin = load_pool(path)
        if origin == json.loads(json.dumps(config.origin)):  # tuples are lists there
            return pool
        what = f"{path} holds tasks that were sampled from other settings than those of the run"
    except FileError as error:
        what = str(error)
    warnings.warn(f"{what}; the tasks are sampled again", NrmWarning, stacklevel=2)
    with suppress(FileError):  # a folder that nothing can be written into is still good to read
        keep_tasks(folder, config)
    return config.pool
