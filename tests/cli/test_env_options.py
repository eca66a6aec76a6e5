"""Every field of an environment's configuration can be set on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Nrm

CARTPOLE = ("--env", "gym:CartPole-v1", "--env.label", "tests.envs.test_gym:side", "--env.symbols", "left", "right")
GRID = "minigrid:MiniGrid-DoorKey-5x5-v0"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--task", "1", "--env.size", "6", "4", "--env.slip", "0.1"), {"size": [6, 4], "slip": 0.1}),
        (("--task", "1", "--env.start", "random", "--env.steps", "9"), {"start": "random", "steps": 9}),
        (("--task", "F gem", "--env.items", "gem@0,3", "lava@1,1"), {"items": ["gem@0,3", "lava@1,1"]}),
        (
            ("--env", GRID, "--env.observation", "agent", "--env.kwargs.agent_view_size", "5"),
            {"observation": "agent", "kwargs": {"agent_view_size": 5}},
        ),
        (
            ("--env", GRID, "--env.kwargs.max_steps", "20"),
            {"kwargs": {"max_steps": 20}},
        ),
        (
            (*CARTPOLE, "--task", "F right", "--env.steps", "30", "--env.kwargs.sutton_barto_reward=true"),
            {"symbols": ["left", "right"], "steps": 30, "kwargs": {"sutton_barto_reward": True}},
        ),
    ],
)
def test_it_is_in_the_saved_configuration(
    nrm_command: Nrm, tmp_path: Path, arguments: tuple[str, ...], expected: dict[str, Any]
) -> None:
    short = ("--method", "rm", "--total-episodes", "2", "--num-envs", "2", "--quiet", "--out", str(tmp_path / "run"))
    done = nrm_command("train", *arguments, *short)
    assert done.status == 0, done.err
    env = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["env"]
    assert {name: env[name] for name in expected} == expected
