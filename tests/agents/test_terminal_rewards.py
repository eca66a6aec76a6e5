"""Environments that pay at the end of an episode only."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nrm
from nrm.agents import evaluate
from nrm.envs import MINECRAFT_SYMBOLS, BatchedTasks, MinecraftConfig, with_terminal_rewards
from nrm.errors import ConfigError, EnvError
from nrm.machines import TaskSet
from nrm.runs import RunConfig, choose_run

FORMULAS = ("F(pickaxe & F door) & G !lava", "F gem")


def test_episodes_pay_the_sum_of_their_rewards_at_their_end() -> None:
    tasks = TaskSet.of([nrm.compile(formula, MINECRAFT_SYMBOLS) for formula in FORMULAS])
    plain, held = (BatchedTasks(MinecraftConfig(), tasks, 8) for _ in range(2))
    paying = with_terminal_rewards(held, "outcome")
    plain.reset(3)
    paying.reset(3)
    sums, generator = torch.zeros(8), torch.Generator().manual_seed(0)
    for _ in range(80):
        actions = torch.randint(4, (8,), generator=generator)
        one, other = plain.step(actions), paying.step(actions)
        sums += one.reward
        done = one.terminated | one.truncated
        assert torch.equal(one.observation, other.observation)
        torch.testing.assert_close(other.reward, torch.where(done, sums, 0.0))
        sums[done] = 0
    assert plain.withheld is None
    # Episodes end at 100 and at -100, so no step before the end is there.
    assert paying.withheld is not None
    assert not paying.withheld[np.isin(tasks.levels, (-100, 100))].any()
    assert paying.withheld.any()


def run(method: str = "nrm", **options: object) -> RunConfig:
    return choose_run("F(pickaxe & F door)", "map", method, 100, reward="terminal", **options)  # type: ignore[arg-type]


def test_symbols_are_learned_from_what_episodes_end_with() -> None:
    config = run(total_episodes=480)
    trainer = config.build_trainer()
    trainer.run()
    tested = evaluate(trainer, config.build_env(8), 40, 1, greedy=False)
    assert tested.mean_return > 90
    assert tested.grounding is not None
    assert tested.grounding.modulo_shortcuts == 1
    with pytest.raises(EnvError, match="end of an episode"):
        evaluate(trainer, config.build_env(8), 8, 1, greedy=False, belief="filtered")


def test_what_needs_the_reward_of_every_step_is_refused() -> None:
    with pytest.raises(ConfigError, match="terminal"):
        run("automata-learning").build_trainer()
    with pytest.raises(ConfigError, match="open-loop"):
        run(settings={"grounding": {"belief": "filtered"}}).build_trainer()
    with pytest.raises(ConfigError, match="--reward"):
        choose_run(None, "letter", tasks="mixture", reward="terminal")
