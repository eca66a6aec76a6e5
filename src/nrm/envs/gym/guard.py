"""Errors of an environment or a label that others wrote, told with their place; and episodes without an end."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import TimeLimit

from nrm.envs.labels import LabelFunction, Speaker, SpokenLabel
from nrm.errors import EnvError, NrmError, NrmWarning, describe

MAX_STEPS = 1_000
"""Steps after which an episode is cut off where nobody set a limit: it may have no end, and so would training."""


class GuardedEnv(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose own errors become `EnvError`s that name it and the step, and whose episodes end.

    Where no `TimeLimit` is around it, episodes are cut off after `MAX_STEPS`, with a warning.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
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
        except TypeError as error:
            raise EnvError(
                f"{self.name}: reset() failed: {describe(error)}. It must take the keywords seed and options"
            ) from error
        except Exception as error:
            raise EnvError(f"{self.name}: reset() of episode {self._episode} failed: {describe(error)}") from error

    def step(self, action: Any) -> Any:
        """Step the environment."""
        self._time += 1
        try:
            stepped: Any = self.env.step(action)
        except NrmError:
            raise
        except Exception as error:
            raise EnvError(f"{self.name}, {self.place}, action {action}: {describe(error)}") from error
        return stepped if self._most is None or self._time < self._most else self._cut_off(stepped)

    def _cut_off(self, stepped: Any) -> Any:
        """The last step that an episode without a limit may have: truncated, unless it ends here by itself."""
        observation, reward, terminated, truncated, info = stepped
        if not (terminated or truncated):
            warnings.warn(
                f"{self.name} has no TimeLimit, and an episode had not ended after {self._most:,} steps; such episodes "
                "are cut off there. Set a limit that suits your task: --env.steps 200, for example",
                NrmWarning,
                stacklevel=3,
            )
        return observation, reward, terminated, truncated or not terminated, info


def _has_limit(env: gymnasium.Env[Any, Any]) -> bool:
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
