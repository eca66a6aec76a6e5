"""Environments and labels that others wrote: errors with their place, first steps before training, misspelt symbols."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.wrappers import TimeLimit

from nrm.envs.labels import LabelFunction, Speaker, SpokenLabel, labelling
from nrm.envs.task_env import own_task
from nrm.errors import EnvError, NrmError, NrmWarning, describe, listing, suggestion
from nrm.machines import Alphabet

AnyEnv = gymnasium.Env[Any, Any]
Lived = list[tuple[str, Any]]
"""What was seen, with its place."""
LISTS = ("symbols", "propositions")
"""Attributes in which an environment says what can hold: one at a time, or any."""
MAX_STEPS = 1_000
"""Steps after which an episode is cut off where nobody set a limit: it may have no end, and so would training."""
_SEEDS = (11, 12)
"""Of the two episodes whose first steps are lived through."""


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

    @property
    def place(self) -> str:
        """Where the environment is."""
        return f"step {self._time} of episode {self._episode}"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode."""
        self._episode += 1
        self._time = 0
        try:
            return self.env.reset(seed=seed, options=options)
        except NrmError:
            raise
        except Exception as error:
            keywords = ". It must take the keywords seed and options" if isinstance(error, TypeError) else ""
            raise EnvError(
                f"{self.name}: reset() of episode {self._episode} failed: {describe(error)}{keywords}"
            ) from error

    def step(self, action: Any) -> Any:
        """Step the environment; the last step that an episode without a limit may have is truncated."""
        self._time += 1
        try:
            stepped: Any = self.env.step(action)
        except NrmError:
            raise
        except Exception as error:
            raise EnvError(f"{self.name}, {self.place}, action {action}: {describe(error)}") from error
        if self._most is None or self._time < self._most:
            return stepped
        observation, reward, terminated, truncated, info = stepped
        if not (terminated or truncated):
            warnings.warn(
                f"{self.name} has no TimeLimit, and an episode had not ended after {self._most:,} steps; such episodes "
                "are cut off there. Set a limit that suits your task: --env.steps 200, for example",
                NrmWarning,
                stacklevel=2,
            )
        return observation, reward, terminated, truncated or not terminated, info


def _has_limit(env: AnyEnv) -> bool:
    """Whether a `TimeLimit` is among the wrappers; what an environment counts by itself nobody can see."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            return True
        env = env.env
    return False


def guarded_label(label: LabelFunction, speaker: Speaker, env: GuardedEnv) -> LabelFunction:
    """A label whose own errors name it and the step."""

    def guarded(observation: Any, info: dict[str, Any], inner: Any) -> Any:
        try:
            return label(observation, info, inner)
        except NrmError:
            raise
        except Exception as error:
            raise EnvError(f"{speaker.name} failed at {env.place}: {describe(error)}") from error

    return SpokenLabel(guarded, speaker)


def rehearse(make: Callable[[], AnyEnv]) -> str:
    """Live through first steps before training: where two lives of one episode part, in words; empty if nowhere.

    The second life is the first episode of another environment: so what one episode leaves for the next shows too.
    """
    first, second = make(), make()
    try:
        _check_bounds(first.observation_space, _live(first, _SEEDS[0]))
        one, other = _live(first, _SEEDS[1]), _live(second, _SEEDS[1])
    finally:
        first.close()
        second.close()
    for (place, mine), (_, theirs) in zip(one, other, strict=False):
        if not data_equivalence(mine, theirs, exact=True):
            return place
    return "" if len(one) == len(other) else "the length of the episode"


def _live(env: AnyEnv, seed: int, look: Callable[[Any], None] = lambda _: None) -> Lived:
    """Live the first 24 steps of an episode with random actions that depend on the seed alone."""
    env.action_space.seed(seed)
    # Copies, because environments may write into what they gave.
    lived: Lived = [("the first observation", copy.deepcopy(env.reset(seed=seed)[0]))]
    for step in range(1, 25):
        stepped = env.step(env.action_space.sample())
        look(stepped)
        observation, reward, terminated, truncated, info = stepped
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
        for place in map(tuple, np.argwhere(~np.isfinite(given)).tolist()):
            by = "reset()" if what == lived[0][0] else "step()"
            raise EnvError(
                f"{what}, which {by} gives, is {given[place]} at {place}; observations must be finite numbers"
            )
        for place in map(tuple, np.argwhere((given < space.low) | (given > space.high)).tolist()):
            warnings.warn(
                f"{what} lies outside of observation_space {space}: {given[place]:g} at {place}; networks scale by "
                "these bounds",
                NrmWarning,
                stacklevel=3,
            )
            return


def misspelt(make: Callable[[], AnyEnv], named: str | None, task: Alphabet) -> str:
    """Which symbol of a task the label seems to call by another name, in words; empty where nothing speaks for it.

    `make`: makes an environment; `named`: the label; `task`: the task's symbols.
    """
    said = () if task.is_exclusive else _heard(make, named)
    strange = [name for name in said if name not in task.places]
    unheard = [name for name in task.symbols if name not in said]
    if not strange or not unheard:
        return ""
    label = f"the label {named}" if named else "the label"
    name_all = "name all that the label can say: --env.symbols where one holds at a time, else --env.propositions"
    for name in unheard:
        if hint := suggestion(name, strange):
            return (
                f"unknown symbol '{name}' in the task ({label} says in its first steps: {listing(said)}){hint} If "
                f"'{name}' is right, {name_all}"
            )
    return (
        f"in its first steps {label} says {listing(strange)}, of which the task does not speak, and never "
        f"{listing(unheard)}, of which it does; correct the task, or {name_all}"
    )


def _heard(make: Callable[[], AnyEnv], named: str | None) -> tuple[str, ...]:
    """The names that the label says in the first steps, where the environment lists none."""
    env = make()
    said: set[str] = set()
    try:
        if own_task(env) is not None or any(map(env.has_wrapper_attr, LISTS)):
            return ()
        label = labelling(named, env)
        for seed in _SEEDS:
            _live(env, seed, lambda stepped: said.update(_names(label(stepped[0], stepped[4], env))))
    finally:
        env.close()
    return tuple(sorted(said))


def _names(said: Any) -> list[str]:
    """The names in what a label said; none in numbers and truth values, which go by the order of the symbols."""
    if isinstance(said, str):
        return [said]
    if isinstance(said, Mapping):
        said = [name for name, holds in said.items() if holds]
    return [name for name in said if isinstance(name, str)] if isinstance(said, (list, tuple, set, frozenset)) else []
