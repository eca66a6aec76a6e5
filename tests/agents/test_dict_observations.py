"""Dict observations, image and numbers together, in our own agents."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces

import nrm
from nrm.agents import new_trainer
from nrm.agents.a2c import A2CConfig
from nrm.envs import GymVectorEnv, TaskEnv
from nrm.errors import ConfigError
from nrm.tracking import GroundingConfig

TASK = nrm.compile("F(a & F b)", "a b empty")


class Row(gymnasium.Env[Any, Any]):
    """Three places in a row; a picture shows the place, and a number how warm it is there."""

    observation_space = spaces.Dict(
        {"picture": spaces.Box(0, 255, (8, 8, 1), np.uint8), "warm": spaces.Box(0.0, 20.0, (1,), np.float32)}
    )
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.time = 1, 0
        return self._seen(), {"labels": ("empty",)}

    def step(self, action: Any) -> Any:
        self.place = min(max(self.place + (1 if action else -1), 0), 2)
        self.time += 1
        labels = (("a", "empty", "b")[self.place],)
        return self._seen(), 0.0, False, self.time >= 20, {"labels": labels}

    def _seen(self) -> dict[str, Any]:
        picture = np.zeros((8, 8, 1), dtype=np.uint8)
        picture[:, 3 * self.place : 3 * self.place + 2] = 255
        return {"picture": picture, "warm": np.array([8.0 * self.place], dtype=np.float32)}


def env(count: int = 8) -> GymVectorEnv:
    return GymVectorEnv.of(lambda: TaskEnv(Row(), TASK), count)


def test_rows_hold_all_entries() -> None:
    made = env(2)
    seen = made.reset(0)
    assert made.spec.entries is not None
    assert seen.shape == (2, 65)
    entries = made.spec.entries.split(seen)
    assert entries["warm"].tolist() == [[8.0], [8.0]]
    assert entries["picture"][0, 0, :, 0].tolist() == [0, 0, 0, 255, 255, 0, 0, 0]
    batch = made.step(torch.tensor([0, 1]))
    assert made.spec.entries.split(batch.final_observation)["warm"].tolist() == [[0.0], [16.0]]


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_agents_learn_from_them(method: str) -> None:
    settings: dict[str, Any] = {"algorithm": A2CConfig(learning_rate=3e-3)}
    if method == "nrm":
        settings["grounding"] = GroundingConfig(every=40)
    trainer = new_trainer(env(), method, episodes=400 if method != "rnn" else 700, seed=1, settings=settings)
    trainer.run()
    assert trainer.history.mean_return(50) > 80
    if method == "nrm":
        accuracy = trainer.accuracy()
        assert accuracy is not None
        assert accuracy.modulo_shortcuts > 0.99


def test_runs_on_them_go_on_exactly() -> None:
    whole = new_trainer(env(4), "nrm", episodes=60, seed=2, settings={"grounding": GroundingConfig(every=20)})
    whole.run()
    half, resumed = (
        new_trainer(env(4), "nrm", episodes=60, seed=2, settings={"grounding": GroundingConfig(every=20)})
        for _ in range(2)
    )
    while half.updates < whole.updates // 2:
        half.update()
    resumed.load_state_dict(half.state_dict())
    resumed.run()
    assert resumed.history == whole.history


def test_what_reads_one_array_says_so() -> None:
    with pytest.raises(ConfigError, match=r"one array.*entries"):
        new_trainer(env(2), "nrm", settings={"grounding": GroundingConfig(grounder="mlp")})
