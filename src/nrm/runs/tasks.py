"""What a run is about: one task, or the many of a family. It is asked here, once."""

from __future__ import annotations

import json
import math
import shlex
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from nrm.agents import METHODS, Trainer, check_new_tasks
from nrm.aliases import Json
from nrm.envs import EnvConfig, TaskSpace, many_task_envs
from nrm.errors import ConfigError, FileError, NrmWarning, listing
from nrm.logic import PAPER_TASKS, PaperTask
from nrm.machines import (
    Alphabet,
    MachineLike,
    MooreMachine,
    RewardScheme,
    Rounds,
    Task,
    TaskSet,
    as_machine,
    load_pool,
    save_pool,
    task_from_toml,
    task_toml,
)
from nrm.runs.words import AUTO
from nrm.samplers import FILE_PREFIX, TaskSetConfig, alone_note, sample_tasks, sampler_of
from nrm.shortcuts import task_set_shortcuts

if TYPE_CHECKING:
    from nrm.runs.config import RunConfig

NO_RECIPE = "none"
TASKS_FILE = "tasks.npz"


def about(task: str, family: str | None) -> OneTask | Family:
    """What a run is about: the task of a text, or a family of tasks."""
    return OneTask(task) if family is None else Family(family)


def asked(task: Callable[[], Task], family: str | None, reward: RewardScheme | None = None) -> OneTask | Family:
    """The same of a task that is read only where there is no family; `reward`: another scheme than that of the task."""
    if family is None:
        one = task()
        return OneTask.of(one if reward is None else replace(one, reward=reward))
    if reward is not None:
        raise ConfigError("a reward scheme is for one task (--task), and task samplers have their own; drop --reward")
    return Family(family)


@dataclass(frozen=True)
class OneTask:
    """The same task in every episode."""

    text: str
    """That of a task file."""

    sections = MappingProxyType[str, Any]({})
    """The sections of settings that such runs have besides."""
    side_by_side = 16
    """Episodes that are tested side by side."""
    axis = "episode"
    """The column of metrics.csv along which such runs are compared."""
    zero_shot = False
    """Whether agents execute tasks that they were not trained on."""

    @classmethod
    def of(cls, task: Task) -> OneTask:
        """The task as it is, which need not be read from its text again."""
        made = cls(task_toml(task))
        vars(made)["task"] = task
        return made

    @cached_property
    def task(self) -> Task:
        """The task."""
        return task_from_toml(self.text, "the run's task")

    @property
    def reward(self) -> RewardScheme:
        """The reward scheme."""
        return self.task.reward

    @property
    def words(self) -> str:
        """The task in a few words."""
        return self.task.name

    @property
    def title(self) -> str:
        """The same where names are not enough."""
        return self.task.title

    @property
    def content(self) -> str:
        """All that makes the tasks of two runs the same: not their names."""
        return task_toml(replace(self.task, name=""))

    @cached_property
    def paper(self) -> PaperTask | None:
        """The task of the paper that it is, over whatever symbols, if it is one."""
        symbols = self.task.alphabet.symbols
        fitting = (paper for paper in PAPER_TASKS if len(symbols) >= len(paper.formula().atoms()))
        return next((paper for paper in fitting if paper.formula(symbols) == self.task.formula), None)

    def suits(self, env: EnvConfig, algorithm: str) -> tuple[str, str]:
        """The algorithm of that name, or if it is auto the one that suits an environment; and the recipe that does.

        PPO where actions are continuous or observations hardly come again; A2C, which is faster, where there are few.
        """
        if algorithm != AUTO:
            return algorithm, NO_RECIPE
        found = env.spaces()
        if found is None:
            return env.algorithm(), NO_RECIPE
        if isinstance(found.action, spaces.Box):
            return "ppo", "continuous"
        # So many distinct observations are taken for a list, such as the cells of a grid.
        return "a2c" if _values(found.observation) <= 1024 else "ppo", NO_RECIPE

    def alphabet(self, config: RunConfig) -> Alphabet:  # noqa: ARG002
        """What is read."""
        return self.task.alphabet

    def pool(self, config: RunConfig, folder: Path | None) -> None:
        """No others."""

    def given(self, config: RunConfig) -> MooreMachine | TaskSet:  # noqa: ARG002
        """What an environment is built with."""
        return Rounds.of_task(self.task) if self.task.is_infinite else self.task.machine()

    def training(self, config: RunConfig) -> RunConfig:
        """The run as it is trained: of an infinite task by rounds."""
        return replace(config, end="round") if self.task.is_infinite else config

    def rehearsal(self, config: RunConfig) -> RunConfig:
        """A run that shows as much of the environment, and costs less."""
        return config

    def keep(self, folder: Path, config: RunConfig) -> None:
        """There is nothing to keep but the text."""

    def confusable(self, config: RunConfig) -> tuple[tuple[str, ...], ...]:  # noqa: ARG002
        """Whether the task teaches enough is its author's matter."""
        return ()

    def chosen(self, trainer: Trainer, config: RunConfig, task: MachineLike | None) -> TaskSet:  # noqa: ARG002
        """The task to test an agent on."""
        if task is not None:
            raise ConfigError(f"the agent was trained on one task, and cannot be tested on {task}; drop the task")
        return trainer.tasks

    def executed(self, trainer: Trainer, config: RunConfig, read: Callable[[Alphabet], MachineLike]) -> TaskSet:  # noqa: ARG002
        """What an agent executes where a task can be typed, which `read` reads: its own."""
        return self.chosen(trainer, config, None)

    def tested(self, trainer: Trainer, config: RunConfig, task: MachineLike | None) -> MooreMachine | TaskSet:
        """What an environment to test an agent in is built with."""
        self.chosen(trainer, config, task)
        return self.given(config)

    def notes(self, config: RunConfig) -> list[str]:  # noqa: ARG002
        """What is said before a run begins."""
        return []

    def way_on(self, folder: str, config: RunConfig) -> str:  # noqa: ARG002
        """What to do with an agent that is trained."""
        return f"next: nrm evaluate {folder}, nrm watch {folder}"

    def analysis(self, folder: str, config: RunConfig) -> str:  # noqa: ARG002
        """The command that says what the rewards can teach."""
        alphabet = self.task.alphabet
        if not isinstance(self.reward, str):  # potentials of a given machine, say, that no option can name
            return f"nrm report {folder}"
        scheme = "" if self.reward == "distance" else f" --reward {self.reward}"
        return f"nrm shortcuts {shlex.quote(self.title)} --{alphabet.noun}s {','.join(alphabet.symbols)}{scheme}"


@dataclass(frozen=True)
class Family:
    """Another task with every episode, of a sampler."""

    name: str
    """The sampler: a name, file:PATH, module:name."""

    side_by_side = 250
    axis = "steps"  # episodes differ in length
    zero_shot = True
    text = ""
    paper = None
    reward = "distance"

    @property
    def task(self) -> Task:
        """There is no single one."""
        raise ConfigError(f"the run has many tasks, from {self.name}, and not one")

    @property
    def sections(self) -> Mapping[str, Any]:
        """Of the tasks that are sampled, and of their sampler."""
        return {"tasks": TaskSetConfig(), "family": sampler_of(self.name)}

    @property
    def words(self) -> str:
        """The tasks in a few words: of a file its name."""
        path = self.name.startswith(FILE_PREFIX)
        return f"tasks in {Path(self.name).name}" if path else f"random tasks ({self.name})"

    title = words

    @property
    def content(self) -> str:
        """What makes the tasks of two runs the same."""
        return f"family {self.name}"

    def suits(self, env: EnvConfig, algorithm: str) -> tuple[str, str]:
        """PPO, as observations and tasks hardly come again together; and the recipe that the environment names."""
        return "ppo" if algorithm == AUTO else algorithm, env.recipe()

    def alphabet(self, config: RunConfig) -> Alphabet:
        """What all of them read."""
        return _task_space(config).alphabet

    def pool(self, config: RunConfig, folder: Path | None) -> TaskSet:
        """The tasks that episodes have, from the folder of a run that was begun.

        What is lost there, damaged or of other settings is sampled again, with a warning. A list of formulas that was
        changed since is no reason: the run goes on with the tasks that it was begun with.
        """
        if folder is None:
            return self._sampled(config)
        path = folder / TASKS_FILE
        try:
            pool, origin = load_pool(path)
            if origin == json.loads(json.dumps(self.origin(config))):  # tuples are lists there
                return pool
            what = f"{path} holds tasks that were sampled from other settings than those of the run"
        except FileError as error:
            what = str(error)
        warnings.warn(f"{what}; the tasks are sampled again", NrmWarning, stacklevel=2)
        pool = self._sampled(config)
        with suppress(FileError):  # a folder that nothing can be written into is still good to read
            save_pool(path, pool, self.origin(config))
        return pool

    def _sampled(self, config: RunConfig) -> TaskSet:
        asked: TaskSetConfig = config.settings["tasks"]
        alphabet, events = _task_space(config)
        return sample_tasks(
            config.settings["family"],
            alphabet,
            asked.count,
            config.seed,
            events=events,
            max_states=asked.max_states,
            without=[config.task_named(text) for text in asked.held_out],
            up_to_renaming=asked.up_to_renaming,
        )

    def origin(self, config: RunConfig) -> Json:
        """All that the tasks are sampled from, as JSON values."""
        asked: TaskSetConfig = config.settings["tasks"]
        alphabet, events = _task_space(config)
        return {
            "family": self.name,
            "settings": asdict(config.settings["family"]),
            "count": asked.count,
            "max_states": asked.max_states,
            "held_out": list(asked.held_out),
            **({"up_to_renaming": True} if asked.up_to_renaming else {}),  # runs from before it came have no such key
            "seed": config.seed,
            "alphabet": [alphabet.kind, *alphabet.symbols, *(alphabet.occurring or ())],
            "events": [event.brief() for event in events],
        }

    def keep(self, folder: Path, config: RunConfig) -> None:
        """Write the tasks of a run into its folder."""
        save_pool(folder / TASKS_FILE, self.given(config), self.origin(config))

    def given(self, config: RunConfig) -> TaskSet:
        """What an environment is built with."""
        assert config.pool is not None
        return config.pool

    def training(self, config: RunConfig) -> RunConfig:
        """The run as it is trained: episodes may be cut off sooner than in a test."""
        horizon = config.settings["tasks"].training_horizon
        if horizon is None:
            return config
        env = config.settings["env"]
        if not isinstance(getattr(env, "steps", None), int):
            raise ConfigError(f"'{config.env}' has no time limit to shorten; drop --tasks.training-horizon")
        return config.changed(env=replace(env, steps=min(horizon, env.steps)))

    def rehearsal(self, config: RunConfig) -> RunConfig:
        """A run with a single task: sampling them all takes a while."""
        return config.changed(tasks=replace(config.settings["tasks"], count=1))

    def confusable(self, config: RunConfig) -> tuple[tuple[str, ...], ...]:
        """The sets of letters that the tasks cannot teach a run to tell apart, where it is to learn symbols.

        Raise where they teach nothing at all.
        """
        if not METHODS[config.method].grounds:
            return ()
        pool = self.given(config)
        found = task_set_shortcuts(pool).confusable
        if len(found) == 1 and len(found[0]) == pool.alphabet.size:
            raise ConfigError(f"the tasks from {self.name} teach nothing: their rewards separate no two symbols")
        return found

    def chosen(self, trainer: Trainer, config: RunConfig, task: MachineLike | None) -> TaskSet:
        """The task to test an agent on, once it is seen to be one that it can execute."""
        alphabet = config.alphabet
        if task is None:
            symbols = alphabet.symbols
            raise ConfigError(f"the task is missing; give one over {listing(symbols)}: --task 'F {symbols[0]}'")
        named = config.task_named(task) if isinstance(task, str) else task
        if isinstance(named, Task) and named.is_infinite:
            pool: TaskSet = Rounds.of_task(named)
        else:
            pool = TaskSet((as_machine(named, alphabet),), (str(task),))
        check_new_tasks(trainer, pool)
        return pool

    def executed(self, trainer: Trainer, config: RunConfig, read: Callable[[Alphabet], MachineLike]) -> TaskSet:
        """What is typed, once it is seen to be a task that the agent can execute."""
        return self.chosen(trainer, config, read(config.alphabet))

    def tested(self, trainer: Trainer, config: RunConfig, task: MachineLike | None) -> TaskSet:
        """What an environment to test an agent in is built with: that task, or ten of those it was trained on."""
        trained = self.given(config)
        if task is None:
            return trained.subset(range(min(10, len(trained))))
        return self.chosen(trainer, config, task)

    def notes(self, config: RunConfig) -> list[str]:
        """What is said before a run begins: sampling takes a while."""
        lost = alone_note(config.settings["family"], config.alphabet)
        return [f"sampling tasks from {self.name} …", *([f"nrm: {lost}"] if lost else [])]

    def way_on(self, folder: str, config: RunConfig) -> str:
        """What to do with an agent that is trained."""
        return f"try a formula: nrm evaluate {folder} --task '{self.given(config).names[0]}'"

    def analysis(self, folder: str, config: RunConfig) -> str:  # noqa: ARG002
        """The command that says what the rewards can teach."""
        return f"nrm tasks --family {self.name} --symbols {','.join(config.alphabet.symbols)}"


def _task_space(config: RunConfig) -> TaskSpace:
    space = config.env_config.task_space()
    if space is None:
        raise ConfigError(f"the environment '{config.env}' has one task, unlike {listing(many_task_envs())}")
    return space


def _values(space: spaces.Space[Any]) -> float:
    """How many different observations a space has; of whatever is no list of choices, infinitely many."""
    if isinstance(space, spaces.Dict):
        return math.prod(map(_values, space.spaces.values()))
    if isinstance(space, spaces.Discrete):
        return float(space.n)
    if isinstance(space, spaces.MultiBinary):
        return math.prod([2.0] * math.prod(space.shape))
    if isinstance(space, spaces.MultiDiscrete):
        return math.prod(map(float, space.nvec.flat))
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.integer):
        counts: list[float] = (space.high.astype(float) - space.low.astype(float) + 1).flatten().tolist()
        return math.prod(counts)
    return math.inf
