"""Mistakes that are easily made, and what is said of them."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest
from gymnasium.vector import SyncVectorEnv

import nrm
from nrm.errors import EnvError
from nrm.wrappers import model_for
from tests.envs.own import SYMBOLS, Corridor

MACHINE = nrm.compile("F(mail & F desk)", SYMBOLS)


def walk(env: gymnasium.Env[Any, Any], steps: int) -> None:
    env.reset(seed=0)
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            env.reset()


def test_an_environment_in_place_of_its_space() -> None:
    with pytest.raises(EnvError, match=r"Corridor.*env\.observation_space"):
        model_for(Corridor(), MACHINE)  # type: ignore[arg-type]
    with pytest.raises(EnvError, match=r"SyncVectorEnv.*env\.single_observation_space"):
        model_for(SyncVectorEnv([Corridor]), MACHINE)  # type: ignore[arg-type]
    with pytest.raises(EnvError, match=r"space.*\b3\b"):
        model_for(3, MACHINE)  # type: ignore[arg-type]
