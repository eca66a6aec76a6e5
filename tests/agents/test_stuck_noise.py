"""Agents that get no further go a few steps at random."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nrm.agents import play
from nrm.agents.playing import StuckNoise
from nrm.agents.policy import Agent
from nrm.envs.plane import FLAT, PlaneEnv
from nrm.errors import ConfigError
from nrm.machines import TaskSet
from nrm.runs import choose_run
from nrm.samplers import TaskSetConfig

SAME = torch.zeros(2, 3)


def fresh(step: int) -> torch.Tensor:
    """Noise that tells which step it was drawn at."""
    return torch.full((2, 1), float(step))


def test_after_some_steps_without_anything_new_one_goes_a_stride_in_one_direction() -> None:
    noisy = StuckNoise(20)
    noise = [noisy.noise(SAME, fresh(step))[0, 0].item() for step in range(60)]
    expected = [float(step) for step in range(60)]
    for start in (20, 30, 40, 50):
        expected[start : start + 4] = [7.0 * start] * 4
    assert noise == expected


def test_what_the_memory_shows_counts_for_each_environment() -> None:
    noisy = StuckNoise(10)
    for step in range(9):
        noisy.noise(SAME, fresh(step))
    news = SAME.clone()
    news[1, 2] = 0.6
    noisy.noise(news, fresh(9))
    assert noisy.noise(news, fresh(10))[:, 0].tolist() == [7.0 * 10, 10]
    # A little more is nothing new: beliefs drift.
    for step in range(11, 19):
        noisy.noise(news + 0.04 * (step - 10), fresh(step))
    assert noisy.noise(news, fresh(19))[1, 0] == 7.0 * 19


def test_a_new_episode_begins_anew() -> None:
    noisy = StuckNoise(5)
    for step in range(5):
        noisy.noise(SAME, fresh(step))
    noisy.begin(torch.tensor([True, False]))
    assert noisy.noise(SAME, fresh(5))[:, 0].tolist() == [5, 7.0 * 5]


def quick(**tasks: Any) -> Any:
    settings: dict[str, Any] = {"tasks": {"count": 4, **tasks}, "algorithm": {"num_steps": 4}}
    return choose_run(None, "flat", "rm", 0, tasks="reach", total_timesteps=64, num_envs=16, settings=settings)


def test_noise_of_tests_is_as_the_tasks_say() -> None:
    assert quick().settings["tasks"].stuck_noise == 40
    config = quick(stuck_noise=10)
    trainer = config.build_trainer()
    pool = TaskSet.of(["F (red & magenta)"], config.alphabet)

    def ways(**how: Any) -> list[list[int]]:
        played = play(trainer, config.build_env(8, pool), 1, greedy=how.pop("greedy", False), **how)
        return [next(played).action.tolist() for _ in range(16)]

    assert ways()[:10] == ways(stuck_noise=False)[:10]
    assert ways() != ways(stuck_noise=False)
    assert ways() == ways()
    assert ways(greedy=True) == ways(greedy=True, stuck_noise=False)


def test_executing_a_formula_has_it_too() -> None:
    noisy, calm = (Agent(quick(stuck_noise=after).build_trainer()) for after in (10, None))

    def way(agent: Agent) -> tuple[Any, ...]:
        return agent.execute("F (red & magenta)", PlaneEnv(FLAT), seed=2, most_steps=60).actions

    assert way(noisy)[:10] == way(calm)[:10]
    assert way(noisy) != way(calm)


def test_no_steps_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"tasks.stuck_noise.*0"):
        TaskSetConfig(stuck_noise=0)
