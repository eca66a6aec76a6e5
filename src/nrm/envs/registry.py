"""Kinds of environments that runs can be in. Each is one file that registers one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from nrm.envs.base import BatchedEnv
from nrm.envs.termination import End
from nrm.errors import ConfigError, MissingModuleError, listing, suggestion
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


@dataclass(frozen=True)
class EnvKind:
    """A family of environments: how one is named, configured, built and shown."""

    name: str
    """Of the family."""
    names: tuple[str, ...]
    """How users name its environments, for help and errors: `map`, `minigrid:ID`."""
    config: type
    """The frozen dataclass of what can be set: `--env.size 6`."""
    parse: Callable[[str], Any]
    """From an environment's name to its configuration; None when the name is not of this family."""
    task: Callable[[str | None, Any], Task]
    """From what a user wrote, and a configuration, to a task there; without text the environment's own, if it has
    one."""
    build: Callable[[Any, Any, int, End], BatchedEnv]
    """N environments with a task: from a configuration, a machine, N, and when the task ends an episode."""
    render: Callable[[Any, MooreMachine, str, End], gymnasium.Env[Any, Any]]
    """One environment with a task, to be looked at in a render mode."""
    title: Callable[[Any], str]
    """A short name of a configuration for tables and figures: what agents see, and how it varies."""
    titled: tuple[str, ...] = ()
    """The fields that the title tells already."""
    algorithm: str | Callable[[Any], str] = "a2c"
    """The name of the algorithm that agents learn with there, unless told otherwise; or from a configuration to it."""
    spaces: Callable[[Any], Spaces] | None = None
    """From a configuration to the spaces of an environment, for kinds that know them only once one is made: they then
    say which algorithm suits, in place of `algorithm`."""
    tasks: Callable[[Any], TaskSpace] | None = None
    """From a configuration to what many tasks there speak of; `build` then takes a `TaskSet` in place of a machine.
    None for kinds whose environments have one task."""
    board: Callable[[Any, MooreMachine, End, int], Board] | None = None
    """A still picture of the environment, drawn from a seed where it varies; None for environments without one."""
    without_memory: Callable[[Any, MooreMachine, End], WithoutMemory | None] | None = None
    """From a configuration, a machine and when the task ends an episode to what the best policies without memory earn,
    for figures and tables; None, or from a kind without this, where nobody can compute it."""

    def __post_init__(self) -> None:
        if not is_dataclass(self.config):
            raise ConfigError(f"the config of the environment '{self.name}' is no dataclass: {self.config!r}")

    def algorithm_for(self, config: Any) -> str:
        """The name of the algorithm that suits a configuration."""
        return self.algorithm if isinstance(self.algorithm, str) else self.algorithm(config)


ENVS: Registry[EnvKind] = Registry(
    "environment",
    tuple(field.name for field in fields(EnvKind) if field.name != "name"),
    {name: f"nrm.envs.{name}.kind" for name in ("minecraft", "minigrid", "plane", "letter", "gym")},
)


def find_env(name: str) -> tuple[EnvKind, Any]:
    """The kind of the environment of that name, and its configuration.

    `module:name` is a kind from outside, or what makes a Gymnasium environment.
    """
    kinds = list(ENVS.values())
    for kind in kinds:
        if (config := kind.parse(name)) is not None:
            return kind, config
    known = [one for kind in kinds for one in kind.names]
    near = _near(name, known)
    unknown = f"unknown environment '{name}'{near} (environments: {listing(known)}, or module:name of your own)"
    if ":" not in name:
        raise ConfigError(unknown)
    try:
        found = import_value(name, "environment")
    except MissingModuleError:
        if near:
            raise ConfigError(unknown) from None
        raise
    if not hasattr(found, "parse"):  # no kind of environments, so it makes an environment
        kind = ENVS["gym"]
        return kind, kind.config(name)
    kind = ENVS[name]
    config = kind.parse(name)
    if config is None:
        raise ConfigError(f"the environment '{name}' does not know its own name: its parse gives None")
    return kind, config


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
