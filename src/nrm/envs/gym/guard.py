"""Errors of an environment or a label that others wrote, told with their place."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from nrm.envs.labels import LabelFunction
from nrm.errors import NrmError, NrmWarning, WorldError, describe

LONG = 10_000
"""Steps of an episode after which somebody probably forgot a limit."""


class GuardedEnv(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose own errors become `WorldError`s that name it and the step."""

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
        RecordConstructorArgs.__init__(self, name=name)
        gymnasium.Wrapper.__init__(self, env)
        self.name = name
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
            raise WorldError(
                f"{self.name}: reset() failed: {describe(error)}. It must take the keywords seed and options"
            ) from error
        except Exception as error:
            raise WorldError(f"{self.name}: reset() of episode {self._episode} failed: {describe(error)}") from error

    def step(self, action: Any) -> Any:
        """Step the environment."""
        self._time += 1
        if self._time == LONG:
            warnings.warn(
                f"{self.name}: an episode has lasted {LONG:,} steps; set a limit with --world.steps, such as 500",
                NrmWarning,
                stacklevel=2,
            )
        try:
            return self.env.step(action)
        except NrmError:
            raise
        except Exception as error:
            raise WorldError(f"{self.name}, {self.place}, action {action}: {describe(error)}") from error


def guarded_label(label: LabelFunction, name: str, env: GuardedEnv) -> LabelFunction:
    """A label whose own errors name it and the step."""

    def guarded(observation: Any, info: dict[str, Any], inner: Any) -> Any:
        try:
            return label(observation, info, inner)
        except NrmError:
            raise
        except Exception as error:
            raise WorldError(f"the label {name} failed at {env.place}: {describe(error)}") from error

    return guarded
