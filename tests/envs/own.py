"""Environments such as users write, good and bad ones, for tests that name them as `tests.envs.own:NAME`."""

from __future__ import annotations

import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

import nrm

SYMBOLS = ("mail", "desk", "floor")
Transition = NDArray[np.float32]


class Corridor(gymnasium.Env[Transition, Any]):
    """A row of places, the mail at the left end, a desk at the right one. Observations are noisy."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, size: int = 4, noise: float = 0.3, render_mode: str | None = None) -> None:
        self.size, self.noise, self.render_mode = size, noise, render_mode
        self.observation_space = spaces.Box(-1.0, size + 1.0, (1,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Transition, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.time = self.size // 2, 0
        return self.look(), {}

    def step(self, action: int) -> Any:
        self.place = min(max(self.place + (1 if action else -1), 0), self.size)
        self.time += 1
        return self.look(), 0.0, False, self.time >= 30, {"event": holds(None, {}, self)}

    def look(self) -> Transition:
        return np.array([self.place + self.np_random.uniform(-self.noise, self.noise)], dtype=np.float32)

    def render(self) -> Any:
        picture = np.full((8, 8 * (self.size + 1), 3), 255, dtype=np.uint8)
        picture[2:6, 8 * self.place + 2 : 8 * self.place + 6] = (200, 30, 30)
        return picture


def holds(observation: Any, info: dict[str, Any], env: Any) -> str:
    corridor = env.unwrapped
    return {0: "mail", corridor.size: "desk"}.get(corridor.place, "floor")


class Typed(Corridor):
    """Renders as text."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012

    def render(self) -> Any:
        return "".join("@" if place == self.place else "." for place in range(self.size + 1))


class Speaking(Corridor):
    """Says itself what can hold, and what does."""

    symbols = SYMBOLS

    def label(self) -> str:
        return holds(None, {}, self)


class Listed(Corridor):
    """Shows the number of its place; actions may be continuous."""

    def __init__(self, continuous: bool = False) -> None:
        super().__init__()
        self.observation_space: Any = spaces.Discrete(self.size + 1)
        self.action_space: Any = spaces.Box(-1, 1, (1,)) if continuous else spaces.Discrete(2)

    def step(self, action: Any) -> Any:
        return super().step(int(np.asarray(action).flat[0] > 0))

    def look(self) -> Any:
        return self.place


class Endless(Corridor):
    """Has no end of its own."""

    def step(self, action: int) -> Any:
        observation, reward, _, _, info = super().step(action)
        return observation, reward, False, False, info


def limited(steps: int) -> gymnasium.Env[Any, Any]:
    return gymnasium.wrappers.TimeLimit(Endless(), steps)


def endless_with_task() -> gymnasium.Env[Any, Any]:
    return nrm.TaskEnv(Endless(), nrm.compile("F(mail & F desk)", SYMBOLS), holds)


def with_task() -> gymnasium.Env[Any, Any]:
    return nrm.TaskEnv(Corridor(), nrm.compile("F(mail & F desk)", SYMBOLS), holds)


def failing() -> gymnasium.Env[Any, Any]:
    raise RuntimeError("the simulator is not running")


def no_environment() -> int:
    return 3


class Old(Corridor):
    """Steps as the old gym did."""

    def step(self, action: int) -> Any:
        observation, reward, _, done, info = super().step(action)
        return observation, reward, done, info


class Breaks(Corridor):
    """Fails at its third step."""

    def step(self, action: int) -> Any:
        if self.time == 2:
            raise ZeroDivisionError("no more steps")
        return super().step(action)


class WrongShape(Corridor):
    def look(self) -> Transition:
        return np.zeros(2 if getattr(self, "time", 0) == 1 else 1, dtype=np.float32)


class NotANumber(Corridor):
    def step(self, action: int) -> Any:
        return (*super().step(action)[:1], float("nan"), False, False, {})


class NothingAtFirst(Corridor):
    """Shows NaN before its first step."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Transition, dict[str, Any]]:
        observation, info = super().reset(seed=seed)
        return observation * np.float32("nan"), info


class Unseeded(Corridor):
    """Draws its noise from a generator that no seed reaches."""

    def look(self) -> Transition:
        return np.array([self.place + np.random.default_rng().uniform(-0.3, 0.3)], dtype=np.float32)


class Leaking(Corridor):
    """What one episode leaves behind changes the next."""

    episodes = 0

    def look(self) -> Transition:
        return super().look() + np.float32(0.01 * self.episodes)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Transition, dict[str, Any]]:
        self.episodes += 1
        return super().reset(seed=seed)


class Warming(Corridor):
    """Only its very first episode differs."""

    warm = False

    def look(self) -> Transition:
        return super().look() + np.float32(0.0 if self.warm else 0.01)

    def step(self, action: int) -> Any:
        stepped = super().step(action)
        self.warm = True
        return stepped


class Pieces(Corridor):
    """Observations in two parts."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space: Any = spaces.Tuple((spaces.Box(-1, 5, (1,)), spaces.Discrete(2)))

    def look(self) -> Any:
        return super().look(), 0


class Outside(Corridor):
    """Shows numbers that its space does not have."""

    def look(self) -> Transition:
        return super().look() + np.float32(100)


class OutsideLater(Corridor):
    """The same, but not at first."""

    def look(self) -> Transition:
        return super().look() + np.float32(100 if self.time >= 3 else 0)


class Undrawn(Corridor):
    """Promises pictures."""

    def render(self) -> Any:
        raise NotImplementedError


def wrong_label(observation: Any, info: dict[str, Any], env: Any) -> str:
    return "zebra"


def late_label(observation: Any, info: dict[str, Any], env: Any) -> str:
    """Misspells the floor, later than anybody looks before training."""
    return "flor" if env.unwrapped.time == 27 else holds(observation, info, env)


def failing_label(observation: Any, info: dict[str, Any], env: Any) -> str:
    return str(info["nothing"])


def one_argument(observation: Any) -> str:
    return "mail"


ENV = Corridor()
NUMBER = 3


class Failing(Corridor):
    """Does something odd after some steps, whatever `odd` says; goes to a `folder`."""

    symbols = SYMBOLS
    odd = ""

    def __init__(self, folder: str = "", render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)
        self.folder, self.steps = folder, 0

    def label(self) -> str:
        return holds(None, {}, self)

    def step(self, action: int) -> Any:
        observation, *rest = super().step(action)
        self.steps += 1
        if self.folder:
            os.chdir(self.folder)
        if self.odd == "exit" and self.steps > 100:
            raise SystemExit(0)
        odd = {"text": "ten", "object": np.array([object()]), "complex": np.array([1j]), "ragged": [[1], [2, 3]]}
        return (odd.get(self.odd, observation) if self.steps > 100 else observation, *rest)

    def close(self) -> None:
        if self.odd == "close":
            raise SystemExit(7)
