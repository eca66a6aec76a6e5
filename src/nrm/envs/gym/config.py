"""Any environment of Gymnasium's, or of the user's: what holds in it, how it is made, and N of them with a task."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.wrappers import TimeLimit

from nrm.aliases import Argument
from nrm.envs.registry import ENVS, LabelledConfig, Spaces
from nrm.envs.task_env import TaskEnv, own_task
from nrm.envs.task_runner import End
from nrm.envs.vector import CHOICES, GymVectorEnv
from nrm.errors import ConfigError, EnvError, NrmError, NrmWarning, describe, listing, suggestion, unknown
from nrm.logic import is_paper_task, read_formula
from nrm.machines import (
    Alphabet,
    MachineLike,
    MooreMachine,
    Task,
    TaskSet,
    alphabet_of,
    as_task_set,
    load_task,
    own_alphabet,
    task_from_text,
)
from nrm.registry import import_here, import_value, in_their_folder

AnyEnv = gymnasium.Env[Any, Any]
PREFIX = "gym:"
"""What the names of registered environments begin with: `gym:CartPole-v1`."""


def check_id(name: str) -> None:
    """Raise `ConfigError` unless Gymnasium has an environment of that id, or its package registers one."""
    package, colon, bare = name.rpartition(":")
    if colon:
        import_here(package, f"{PREFIX}{name}", "environment")
    if bare not in gymnasium.registry:
        near = suggestion(bare, gymnasium.registry)
        more = "" if colon else "; if a package brings it, name that too: gym:PACKAGE:ID"
        raise ConfigError(f"Gymnasium has no environment '{bare}'{near}{more}")


def make_env(source: str, kwargs: Mapping[str, Argument], render_mode: str | None = None) -> AnyEnv:
    """The environment of a source (`gym:ID`, `module:name`)."""
    make = _registered if source.startswith(PREFIX) else _own
    try:
        env = make(source, dict(kwargs), render_mode)
        if not isinstance(env, gymnasium.Env):
            raise EnvError(f"{source} gave {type(env).__name__}, not a gymnasium.Env; let it return the environment")
    except NrmError:
        raise
    except (Exception, SystemExit) as error:
        texts = [f"{name}={value!r}" for name, value in kwargs.items()]
        raise EnvError(f"{source} failed{f' with {listing(texts)}' if texts else ''}: {describe(error)}") from error
    return env


def _registered(source: str, kwargs: dict[str, Any], render_mode: str | None) -> AnyEnv:
    name = source.removeprefix(PREFIX)
    check_id(name)
    make: Any = gymnasium.make  # its type gives the environment's own arguments the types of its own
    with warnings.catch_warnings():  # an older version than the newest is what was asked for
        warnings.simplefilter("ignore")
        return in_their_folder(
            make, name.rpartition(":")[2], render_mode=render_mode, disable_env_checker=True, **kwargs
        )


def _own(source: str, kwargs: dict[str, Any], render_mode: str | None) -> AnyEnv:
    make = import_value(source, "environment")
    if isinstance(make, gymnasium.Env):
        raise EnvError(f"{source} is one environment, but several are needed; name a function that makes one")
    if not callable(make) or (isinstance(make, type) and not issubclass(make, gymnasium.Env)):
        raise EnvError(f"{source} is {make!r}; name a gymnasium.Env, or a function that makes one")
    try:
        known = inspect.signature(make).parameters
    except (TypeError, ValueError):  # some built-in ones do not say
        return in_their_folder(make, **kwargs)
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    if render_mode is not None and (takes_any or "render_mode" in known):
        kwargs.setdefault("render_mode", render_mode)
    for name in kwargs:
        if name not in known and not takes_any:
            others = [one for one in known if one != "render_mode"]
            there = unknown("argument", name, others) if others else f"'{name}' is given, but it takes no arguments"
            raise EnvError(f"{source}: {there}; see --env.kwargs")
    return in_their_folder(make, **kwargs)


@ENVS.register
@dataclass(frozen=True)
class GymConfig(LabelledConfig):
    """A Gymnasium environment, or your own."""

    name = "gym"
    env_names = (f"{PREFIX}ID",)
    titled = ("source",)

    processes: bool = False
    """Run each environment in its own process, for slow ones."""

    @classmethod
    def parse(cls, name: str) -> GymConfig | None:
        if not name.startswith(PREFIX):
            return None
        check_id(name.removeprefix(PREFIX))
        return cls(name)

    def make(self, render_mode: str | None = None) -> AnyEnv:
        """One environment, without a task."""
        env = make_env(self.source, self.kwargs, render_mode)
        return env if self.steps is None else TimeLimit(env, self.steps)

    def task(self, text: str | None) -> Task:
        """A task over what can hold: as the configuration says it, the environment, the task file, or the formula."""
        if text is None:
            env = self.make()
            inner = own_task(env)
            closed(env)
            if inner is None:
                raise ConfigError(
                    f"no task is given, and {self.source} has none of its own; add one: --task 'F goal & G !lava'"
                )
            return Task.from_machine(inner.machine, f"the task of {self.source}")
        if text.endswith(".toml"):
            task = load_task(text)
            if self.alphabet not in (None, task.alphabet):
                raise ConfigError(f"{text} names its own symbols; drop --env.symbols and --env.propositions")
            return task
        alphabet = self.alphabet or self._said_by_environment()
        if alphabet is None:
            if is_paper_task(text):
                raise ConfigError(
                    f"'{text}' is a task of the paper, over a, b, c, …; say what these are with --env.symbols"
                )
            alphabet = own_alphabet(read_formula(text).formula)
        return task_from_text(text, alphabet)

    def _said_by_environment(self) -> Alphabet | None:
        """What an environment says can hold: its attribute `symbols` (one at a time) or `propositions` (any)."""
        env = self.make()
        try:
            said = {
                name: env.get_wrapper_attr(name) for name in ("symbols", "propositions") if env.has_wrapper_attr(name)
            }
        finally:
            closed(env)
        return alphabet_of(**said) if len(said) == 1 else None

    def build(self, tasks: MooreMachine, count: int, end: End = "outcome") -> GymVectorEnv:
        """N environments side by side, once one of them has been seen to follow the rules."""
        make = partial(gym_env, self, tasks, end)
        found = rehearse(make)
        env = GymVectorEnv.of(make, count, self.processes)
        env.unrepeatable = found
        return env

    def render(self, machine: MooreMachine | TaskSet, mode: str, end: End) -> AnyEnv:
        """In the mode that is asked for; else as pixels or as text, where it can; else without pictures."""
        plain = self.make()
        known = plain.metadata.get("render_modes", ())
        closed(plain)
        chosen = next((one for one in (mode, "rgb_array", "ansi") if one in known), None)
        return gym_env(self, machine, end, chosen)

    def title(self) -> str:
        return self.source

    def spaces(self) -> Spaces:
        """What an environment that is made for this alone says of itself."""
        with warnings.catch_warnings():  # it is made again for training, and says them then
            warnings.simplefilter("ignore")
            env = self.make()
        found = Spaces(env.observation_space, env.action_space)
        closed(env)
        return found


def gym_env(
    source: GymConfig | str, machine: MachineLike | TaskSet, end: End = "outcome", render_mode: str | None = None
) -> AnyEnv:
    """One environment with a task. One that has a task of its own (`TaskEnv`) is taken as it is: it must be this."""
    config = GymConfig(source) if isinstance(source, str) else source
    known = as_task_set(machine)
    env = config.make(render_mode)
    if (inner := own_task(env)) is not None:
        _check_own(config, inner, known.union, end)
    else:
        env = TaskEnv(env, known, config.label, end=end, empty=config.empty_of(known.alphabet))
    return GuardedEnv(env, config.source)


def _check_own(config: GymConfig, inner: TaskEnv[Any, Any], machine: MooreMachine, end: End) -> None:
    """Raise unless an environment with a task of its own is asked for that task."""
    if inner.machine != machine:
        raise EnvError(
            f"{config.source} already has a task (a machine of {inner.machine.states} states); drop "
            "--task, or let it return the environment without its TaskEnv"
        )
    if inner.end != end:
        raise EnvError(
            f"{config.source} ends its task with end='{inner.end}', and the run with '{end}'; add --end {inner.end}"
        )
    if inner.pay != "differences":
        raise EnvError(f"{config.source} pays {inner.pay}; runs need a TaskEnv that pays differences of potentials")
    if config.label is not None:
        raise EnvError(f"{config.source} has a labelling function in its TaskEnv; drop --env.label {config.label}")


Lived = list[tuple[str, Any]]
"""What was seen, with its place."""
MAX_STEPS = 1_000
"""Steps after which an episode is cut off where nobody set a limit: it may have no end, and so would training."""


class GuardedEnv(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose own errors become `EnvError`s that name it and the step, and whose episodes end.

    Where no `TimeLimit` is around it, episodes are cut off after `MAX_STEPS`, with a warning.
    """

    def __init__(self, env: AnyEnv, name: str) -> None:
        RecordConstructorArgs.__init__(self, name=name)
        gymnasium.Wrapper.__init__(self, env)
        self.name = name
        self._most = None if _has_limit(env) else MAX_STEPS
        self._episode = 0
        self._time = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._episode += 1
        self._time = 0
        try:
            shown = in_their_folder(self.env.reset, seed=seed, options=options)
            self._check(shown[0])
            return shown
        except NrmError:
            raise
        except (Exception, SystemExit) as error:
            keywords = ". It must take the keywords seed and options" if isinstance(error, TypeError) else ""
            raise EnvError(
                f"{self.name}: reset() of episode {self._episode} failed: {describe(error)}{keywords}"
            ) from error

    def step(self, action: Any) -> Any:
        """Step the environment; the last step that an episode without a limit may have is truncated."""
        self._time += 1
        try:
            stepped: Any = in_their_folder(self.env.step, action)
            self._check(stepped[0])
        except NrmError:
            raise
        except (Exception, SystemExit) as error:
            place = f"step {self._time} of episode {self._episode}"
            raise EnvError(f"{self.name}, {place}, action {action}: {describe(error)}") from error
        if self._most is None or self._time < self._most:
            return stepped
        observation, reward, terminated, truncated, info = stepped
        if not (terminated or truncated):
            warnings.warn(
                f"{self.name} has no TimeLimit; an episode was truncated after {self._most:,} steps. Set a limit that "
                "suits your task, such as --env.steps 200",
                NrmWarning,
                stacklevel=2,
            )
        return observation, reward, terminated, truncated or not terminated, info

    def _check(self, observation: Any) -> None:
        """Raise where an observation, or an entry of it, has no numbers, or others than its space."""
        space = self.observation_space
        entries = space.spaces if isinstance(space, gymnasium.spaces.Dict) else {"": space}
        for name, entry in entries.items():
            if not isinstance(entry, (gymnasium.spaces.Box, *CHOICES)):  # it is refused as a whole
                continue
            shown = np.asarray(observation[name] if name else observation)
            if shown.dtype.kind not in "biuf" or shown.shape != (entry.shape or ()):
                what = f"an observation{f' ({name})' if name else ''} of shape {shown.shape} and type {shown.dtype}"
                raise TypeError(f"{what} is not in {entry}")

    def close(self) -> None:
        closed(self.env)


def closed(env: AnyEnv) -> None:
    """Close an environment; one that fails at that has nothing more to lose."""
    try:
        in_their_folder(env.close)
    except (Exception, SystemExit) as error:
        warnings.warn(f"close() of an environment failed: {describe(error)}", NrmWarning, stacklevel=2)


def _has_limit(env: AnyEnv) -> bool:
    """Whether a `TimeLimit` is among the wrappers; what an environment counts by itself nobody can see."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            return True
        env = env.env
    return False


def rehearse(make: Callable[[], AnyEnv]) -> str:
    """Live through first steps before training: where two lives of one episode part, in words; empty if nowhere.

    The second life is the first episode of another environment: so what one episode leaves for the next shows too.
    """
    first, second = make(), make()
    try:
        _check_bounds(first.observation_space, _live(first, seed=11))
        one, other = _live(first, seed=12), _live(second, seed=12)
    finally:
        closed(first)
        closed(second)
    for (place, mine), (_, theirs) in zip(one, other, strict=False):
        if not data_equivalence(mine, theirs, exact=True):
            return place
    return "" if len(one) == len(other) else "the length of the episode"


def _live(env: AnyEnv, seed: int) -> Lived:
    """Live the first 24 steps of an episode with random actions that depend on the seed alone."""
    env.action_space.seed(seed)
    # Copies, because environments may write into what they gave.
    lived: Lived = [("the first observation", copy.deepcopy(env.reset(seed=seed)[0]))]
    for step in range(1, 25):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        seen = (("observation", copy.deepcopy(observation)), ("label", info.get("label")), ("reward", reward))
        lived += [(f"the {what} of step {step}", value) for what, value in seen]
        lived.append((f"the end at step {step}", (terminated, truncated)))
        if terminated or truncated:
            break
    return lived


def _check_bounds(space: gymnasium.Space[Any], lived: Lived) -> None:
    """Raise where an observation is no finite number, warn of the first one that lies outside of its space."""
    if not isinstance(space, gymnasium.spaces.Box):
        return
    for what, observation in lived:
        if "observation" not in what or space.contains(np.asarray(observation, dtype=space.dtype)):
            continue
        given = np.asarray(observation, dtype=np.float64)
        if not np.isfinite(given).all():
            raise EnvError(f"{what} is not finite: {given}")
        away = given[(given < space.low) | (given > space.high)]
        if away.size:
            warnings.warn(
                f"{what} lies outside of observation_space {space}: {away[0]:g}; networks scale by these bounds",
                NrmWarning,
                stacklevel=3,
            )
            return
