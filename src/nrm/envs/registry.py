"""Kinds of environments that runs can be in. Each is one configuration class that is registered."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, ClassVar, NamedTuple, get_args

import gymnasium
import numpy as np
from numpy.typing import NDArray

from nrm.envs.base import BatchedEnv
from nrm.envs.task_runner import End
from nrm.errors import ConfigError, EnvError, MissingModuleError, listing, suggestion, unknown
from nrm.logic import Formula
from nrm.machines import Alphabet, MooreMachine, Task
from nrm.registry import Registry, import_value


class Board(NamedTuple):
    """An environment in which nothing moves but the agent, for pages that show it: cell by cell, as pictures."""

    env: BatchedEnv
    """One environment, whose observations are row numbers of `frames`: the agent's cells."""
    width: int
    height: int
    contents: list[int]
    """(cells,) the number of what lies there."""
    letters: list[int]
    """The letter that is read on each kind of content."""
    tiles: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]
    """For each kind of content its picture (height, width, 3), without and with the agent."""
    actions: tuple[str, ...]
    """What the actions are called."""
    drawn: bool
    """Whether this is one of many layouts that the agent meets."""


class TaskSpace(NamedTuple):
    """What tasks in an environment speak of."""

    alphabet: Alphabet
    events: tuple[Formula, ...]
    """What can happen at a step: symbols, or several propositions at once."""


class Spaces(NamedTuple):
    """What agents see and do in an environment, as Gymnasium's spaces."""

    observation: gymnasium.Space[Any]
    action: gymnasium.Space[Any]


class WithoutMemory(NamedTuple):
    """Expected returns of the best policies that remember nothing."""

    blind: float
    """Of a fixed distribution over actions."""
    memoryless: float
    """Of a policy that sees what is observed."""


class EnvConfig:
    """The settings of a kind of environments, and what runs ask of it. Subclasses are frozen dataclasses.

    One is registered with `ENVS.register`, or named as `module:NAME`.
    """

    name: ClassVar[str]
    """Of the kind."""
    env_names: ClassVar[tuple[str, ...]] = ()
    """How users name its environments, for help and errors: `map`, `minigrid:ID`."""
    titled: ClassVar[tuple[str, ...]] = ()
    """The fields that the title tells already."""

    @classmethod
    def parse(cls, name: str) -> EnvConfig | None:  # noqa: ARG003
        """The configuration of an environment's name; None when the name is not of this kind."""
        return None

    def task(self, text: str | None) -> Task:
        """The task of what a user wrote; without text the environment's own, if it has one."""
        raise NotImplementedError

    def build(self, tasks: Any, count: int, end: End) -> BatchedEnv:
        """N environments with the machine of a task, or a `TaskSet` where `task_space` says of what."""
        raise NotImplementedError

    def render(self, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        """One environment with a task, to be looked at in a render mode."""
        raise NotImplementedError

    def title(self) -> str:
        """A short name for tables and figures: what agents see, and how it varies."""
        return self.name

    def algorithm(self) -> str:
        """The name of the algorithm that agents learn with there, unless told otherwise."""
        return "a2c"

    def recipe(self) -> str:
        """The recipe that runs on many tasks follow there, unless told otherwise."""
        return "tasks"

    def spaces(self) -> Spaces | None:
        """The spaces of an environment that are known only once one is made: they then say which algorithm suits."""
        return None

    def task_space(self) -> TaskSpace | None:
        """What many tasks there speak of; None for environments that have one task."""
        return None

    def board(self, machine: MooreMachine, end: End, seed: int) -> Board | None:  # noqa: ARG002
        """A still picture of the environment, drawn from a seed where it varies; None for environments without one."""
        return None

    def without_memory(self, machine: MooreMachine, end: End) -> WithoutMemory | None:  # noqa: ARG002
        """What the best policies without memory earn; None where nobody can compute it."""
        return None

    def _check_choices(self, **known: Any) -> None:
        """Raise `EnvError` where a field is none of the values of its `Literal`."""
        for name, choices in known.items():
            if getattr(self, name) not in get_args(choices):
                raise EnvError(unknown(name, getattr(self, name), map(str, get_args(choices))))

    def _check_whole(self, **least: int) -> None:
        """Raise `EnvError` where a field is no whole number, or below its least value."""
        for name, lowest in least.items():
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < lowest:
                raise EnvError(f"{name} must be a whole number from {lowest}, not {value!r}")


ENVS: Registry[type[EnvConfig]] = Registry(
    "environment",
    ("env_names", "parse", "task", "build", "render", "title"),
    {name: f"nrm.envs.{name}.config" for name in ("minecraft", "minigrid", "plane", "letter", "gym")},
)


def find_env(name: str) -> Any:
    """The configuration of the environment of that name.

    `module:name` is a configuration class from outside, or what makes a Gymnasium environment.
    """
    kinds = list(ENVS.values())
    for kind in kinds:
        if (config := kind.parse(name)) is not None:
            return config
    known = [one for kind in kinds for one in kind.env_names]
    near = _near(name, known)
    problem = f"unknown environment '{name}'{near} (environments: {listing(known)}, or module:name of your own)"
    if ":" not in name:
        raise ConfigError(problem)
    try:
        found = import_value(name, "environment")
    except MissingModuleError:
        if near:
            raise ConfigError(problem) from None
        raise
    if not (isinstance(found, type) and issubclass(found, EnvConfig)):  # so it makes an environment
        make: Any = ENVS["gym"]
        return make(name)
    return _default(found, name)


def _default(kind: Any, name: str) -> Any:
    """The configuration of a class from outside."""
    if not is_dataclass(kind):
        raise ConfigError(f"the environment '{name}' is no dataclass: {kind!r}")
    made: Any = kind
    try:
        return made.parse(name) or made()
    except TypeError as error:
        raise ConfigError(f"the environment '{name}' has settings without a default: {error}") from None


def many_task_envs() -> list[str]:
    """The names of environments in which every episode can have a task of its own."""
    able = (kind for kind in ENVS.values() if kind.task_space is not EnvConfig.task_space)
    return [name for kind in able for name in kind.env_names]


def _near(name: str, known: list[str]) -> str:
    """A suggestion for a name that no kind knows: also where its beginning is misspelt, or was forgotten."""
    prefix, colon, _ = name.partition(":")
    families = {one.partition(":")[0]: one.endswith(":ID") for one in known}
    if colon:
        return suggestion(prefix, [family for family, more in families.items() if more])
    if near := suggestion(name, known):
        return near
    for family, more in families.items():
        if more and name.lower().startswith(family):
            return f"; did you mean '{family}:{name}'?"
    return f"; did you mean 'gym:{name}'?" if name in gymnasium.registry else ""
