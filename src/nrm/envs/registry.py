"""Kinds of environments that runs can be in. Each is one configuration class that is registered."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from nrm.aliases import Argument, Symbol
from nrm.envs.base import BatchedEnv
from nrm.envs.batched import BatchedTasks, Dynamics, SingleEnv
from nrm.envs.task_env import TaskEnv
from nrm.envs.task_runner import End
from nrm.errors import ConfigError, EnvError, MissingModuleError, UnknownSymbolError, listing, suggestion, unknown
from nrm.logic import Formula, atom
from nrm.machines import Alphabet, AlphabetSettings, MooreMachine, Task, TaskSet, alphabet_of, task_from_text
from nrm.registry import Registry, import_value
from nrm.settings import USUAL, Checked, Count


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


class EnvConfig:
    """The settings of a kind of environment. Subclasses are frozen dataclasses.

    Register a subclass with `ENVS.register`, or name it as `module:NAME`.
    """

    name: ClassVar[str]
    """Of the kind."""
    env_names: ClassVar[tuple[str, ...]] = ()
    """How users name its environments, for help and errors: `map`, `minigrid:ID`."""
    titled: ClassVar[tuple[str, ...]] = ()
    """The fields that the title tells already."""

    @classmethod
    def parse(cls, name: str) -> EnvConfig | None:  # noqa: ARG003
        """The configuration for a name; None if the name is not of this kind."""
        return None

    def task(self, text: str | None) -> Task:
        """The task for a text; without a text, the ready task of the environment, if there is one."""
        raise NotImplementedError

    def build(self, tasks: Any, count: int, end: End) -> BatchedEnv:
        """A batch of environments with a task, or with a `TaskSet`."""
        raise NotImplementedError

    def render(self, machine: MooreMachine | TaskSet, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        """One environment with a task, in a render mode."""
        raise NotImplementedError

    @property
    def labels(self) -> str | None:
        """A noisy labelling function, in words (`NoisyLabels.read`); None where none is given."""
        return None

    def title(self) -> str:
        """Short name for tables and figures."""
        return self.name

    def algorithm(self) -> str:
        """Name of the default algorithm."""
        return "a2c"

    def recipe(self) -> str:
        """Default recipe for many tasks."""
        return "tasks"

    def spaces(self) -> Spaces | None:
        """The spaces of an environment that are known only once one is made: they then say which algorithm suits."""
        return None

    def task_space(self) -> TaskSpace | None:
        """The alphabet of many tasks; None if the environment has one task only."""
        return None

    def board(self, machine: MooreMachine, end: End, seed: int) -> Board | None:  # noqa: ARG002
        """How the report draws the environment; None without a drawing."""
        return None


@dataclass(frozen=True, kw_only=True)
class SymbolsConfig(Checked, EnvConfig):
    """What the configurations of all our kinds share."""

    error = EnvError

    empty: Symbol | None = "empty"
    """The symbol for "nothing else"; None if then no proposition is true."""
    labels: str | None = None
    """Noisy labelling function whose probabilities stand beside observations: the probability of a wrong symbol, a
    confusion matrix as JSON or in a .json file, or module:name of a detector. Default: none."""
    steps: Count | None = None
    """Time limit of an episode. Default: 50 on the grid with items, 75 in LetterWorld, 100 among discs, 600 among
    balls, 1,000 among zones and in the office; otherwise that of the environment, or 1,000 if it has no TimeLimit."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for item in fields(self):
            if isinstance(value := getattr(self, item.name), list):  # as files have them
                object.__setattr__(self, item.name, tuple(value))


@dataclass(frozen=True, kw_only=True)
class ObservedConfig(SymbolsConfig):
    """An environment that can be observed in several ways."""

    observation: str = USUAL
    """Grid with items: map (the position, (2,) float32) or image (from above, (pixels, pixels, 3) uint8). LetterWorld:
    planes (zeros and ones per letter, (size, size, letters) uint8) or image ((8 * size, 8 * size, 3) uint8), with the
    agent in the middle. Discs: position (x and y, (2,) float32) or lidar (for each name and ray the distance to the
    nearest disc as a share of 2, (names * 16,) float32). Office: map. Zones: lidar, balls: state (see the cards of
    `nrm/Zones-v0` and `nrm/Water-v0`). MiniGrid: grid (from above) or agent (the 7x7 tiles in front of it, or as
    `--env.kwargs.agent_view_size` says), with 8x8 pixels a tile."""

    observations: ClassVar[tuple[str, ...]] = ()
    """What can be observed, the usual first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.observation not in self.observations:
            raise EnvError(unknown("observation", self.observation, self.observations))


@dataclass(frozen=True, kw_only=True)
class OwnEnvConfig(ObservedConfig):
    """An environment of ours, whose N episodes step together."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.empty in self.names:
            raise EnvError(f"'{self.empty}' names something, and a place where nothing is; rename one of them")

    @property
    def names(self) -> tuple[Symbol, ...]:
        """What can hold, but for `empty`, in order."""
        raise NotImplementedError

    @property
    def alphabet(self) -> Alphabet:
        """The environment's symbols."""
        raise NotImplementedError

    def dynamics(self) -> Dynamics:
        """How it begins, moves and looks."""
        raise NotImplementedError

    def task(self, text: str | None) -> Task:
        """A task file, a task of the paper, or a formula over the environment's symbols."""
        if text is None:
            formula = " & ".join(f"F {name}" for name in self.names[:2])
            raise ConfigError(f"no task is given; add one, such as --task '{formula}', or many: --tasks mixture")
        return task_from_text(text, self.alphabet)

    def task_space(self) -> TaskSpace:
        return TaskSpace(self.alphabet, tuple(map(atom, self.names)))

    def build(self, tasks: MooreMachine | TaskSet, count: int, end: End = "outcome") -> BatchedEnv:
        return BatchedTasks(self, tasks, count, end)

    def render(self, machine: MooreMachine | TaskSet, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        """One of them; as a picture where it has no such mode."""
        return TaskEnv(SingleEnv(self, render_mode="ansi" if mode == "ansi" else "rgb_array"), machine, end=end)

    def check_alphabet(self, alphabet: Alphabet) -> None:
        """Raise `UnknownSymbolError` unless tasks over an alphabet can read all that holds here."""
        here = (*self.names, *(() if self.empty is None else (self.empty,)))
        for name in here:
            if name not in alphabet.symbols:
                raise UnknownSymbolError(
                    f"{unknown('symbol', name, alphabet.symbols, ' of the environment')}; compile the task over "
                    f"{listing(here)}, or name what holds where nothing else does with empty=… (None: nothing)"
                )
        alphabet.nothing(self.empty)


@dataclass(frozen=True, kw_only=True)
class LabelledConfig(AlphabetSettings, SymbolsConfig):
    """An environment of Gymnasium's, in which a labelling function says what holds."""

    source: str = field(kw_only=False)
    """Where it comes from: `MiniGrid-LavaGapS5-v0`, `gym:ID`, `gym:package:ID`, or `module:name` of a function or class
    that makes an environment."""
    label: str | None = None
    """Labelling function: module:name of a function of (observation, info, environment), info:KEY, or labels,
    propositions, get_events or label. Default: whichever of the last four the environment has; in MiniGrid, our own."""
    kwargs: dict[str, Argument] = field(default_factory=dict)
    """Arguments of the environment: --env.kwargs.size 8."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.alphabet

    @property
    def alphabet(self) -> Alphabet | None:
        """What can hold, if the configuration says so."""
        return alphabet_of(self.symbols, self.propositions)

    def empty_of(self, alphabet: Alphabet) -> Symbol | None:
        """The symbol of an alphabet that holds where the label says that nothing does; the usual one may be missing."""
        named = self.empty or "empty"
        return None if named == "empty" and named not in alphabet.symbols else named


ENVS: Registry[type[EnvConfig]] = Registry(
    "environment",
    ("env_names", "parse", "task", "build", "render", "title"),
    {
        name: f"nrm.envs.{name.replace('-', '_')}"
        for name in ("minecraft", "minigrid", "plane", "zones", "office", "water", "gold-mining", "letter", "gym")
    },
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
    families = [one.removesuffix(":ID") for one in known if one.endswith(":ID")]
    prefix, colon, _ = name.partition(":")
    if colon:
        return suggestion(prefix, families)
    forgotten = [f"{family}:{name}" for family in families if name.lower().startswith(family)]
    forgotten += [f"gym:{name}"] if name in gymnasium.registry else []
    return suggestion(name, known) or (f"; did you mean '{forgotten[0]}'?" if forgotten else "")
