"""PPO with the numbers computed by hand, against A2C where both are the same, and on environments that it must
solve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import nrm
from nrm.agents import METHODS, Trainer, new_trainer
from nrm.agents.a2c import A2C, A2CConfig
from nrm.agents.ppo import PPO, PPOConfig
from nrm.envs import BatchedTasks, MinecraftConfig
from nrm.errors import ConfigError
from nrm.tracking import GroundingConfig

UNAIDED = [name for name in METHODS if name not in ("naive", "independent-belief")]
"""Methods that need no detector."""

SYMBOLS = ("gem", "lava", "empty")
CORRIDOR = MinecraftConfig(size=(3, 1), items=["gem@0,0", "lava@2,0"], start=(1, 0), steps=12)
"""Three cells in a row: gem, start, lava."""
QUICK = PPOConfig(num_steps=8, update_epochs=2, minibatch_size=32, learning_rate=5e-3)


def trainer(method: str = "rm", config: PPOConfig | A2CConfig = QUICK, seed: int = 1, **options: Any) -> Trainer:
    """On the corridor: to the gem, and then to the lava."""
    count, episodes = options.pop("count", 8), options.pop("episodes", 300)
    env = BatchedTasks(replace(CORRIDOR, **options), nrm.compile("F(gem & F lava)", SYMBOLS), count)
    settings = {"algorithm": config, "grounding": GroundingConfig(every=40, epochs=100)}
    name = "ppo" if isinstance(config, PPOConfig) else "a2c"
    return new_trainer(env, method, name, episodes=episodes, seed=seed, settings=settings)


def learner(method: str = "rm", config: PPOConfig = QUICK, **options: Any) -> PPO:
    made = trainer(method, config, **options).learner
    assert isinstance(made, PPO)
    return made


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_a_trivial_env_is_solved(method: str) -> None:
    made = trainer(method, QUICK, episodes=1200 if method == "rnn" else 500)
    made.run()
    assert made.history.mean_return() > 90
    if METHODS[method].grounds:
        assert made.history.accuracy[-1][3] == 1.0


@pytest.mark.parametrize("method", UNAIDED)
def test_a_saved_run_goes_on_as_if_never_stopped_and_equal_seeds_are_equal(method: str) -> None:
    whole, half, resumed = (trainer(method, episodes=100, slip=0.1) for _ in range(3))
    whole.run()
    while half.updates < whole.updates // 2:
        half.update()
    resumed.load_state_dict(half.state_dict())
    assert resumed.run() == whole.history
    assert trainer(method, episodes=100, slip=0.1, seed=2).run().returns != whole.history.returns


@pytest.mark.parametrize("method", ["rm", "rnn"])
def test_one_step_over_the_whole_rollout_is_that_of_a2c(method: str) -> None:
    # At the policy that acted the ratio is 1, and its gradient that of the logarithm.
    shared: Any = {"num_steps": 8, "gae_lambda": 0.9, "ent_coef": 0.03, "final_ent_coef": 0.03}
    plain = replace(QUICK, update_epochs=1, minibatch_size=64, learning_rate=1e-3, norm_adv=False, **shared)
    one = trainer(method, plain).learner
    other = trainer(method, A2CConfig(learning_rate=1e-3, **shared)).learner
    assert isinstance(one, PPO)
    assert isinstance(other, A2C)
    for _ in range(3):
        rollout, twin = one.collect(), other.collect()
        assert torch.equal(rollout.action, twin.action)
        losses, expected = one.learn(rollout, 0.0), other.learn(twin, 0.0)
        assert losses["critic"] == pytest.approx(expected["critic"], rel=1e-4)
        assert losses["entropy"] == pytest.approx(expected["entropy"], rel=1e-4)
    for first, second in zip(one.actor.parameters, other.actor.parameters, strict=True):
        torch.testing.assert_close(first, second, rtol=1e-3, atol=2e-5)


def losses(config: PPOConfig, advantage: list[float], ratios: list[float], moved: list[float]) -> list[float]:
    """Of a minibatch whose two actions were equally probable before, with values 1; `moved`: how far values moved."""
    agent = learner(config=config)
    count = len(ratios)
    rollout = agent.collect()
    part = rollout.at(torch.arange(count))._replace(action=torch.zeros(1, count, dtype=torch.int64))
    chosen = torch.tensor(ratios) / 2
    scores = torch.stack([chosen, 1 - chosen], -1).log()[None]
    agent.actor.evaluate = lambda rollout: (scores, 1 + torch.tensor([moved]))  # type: ignore[method-assign]
    before = torch.full((1, count), 0.5).log()
    found = agent._losses(part, before, torch.ones(1, count), torch.tensor([advantage]))
    return [float(loss) for loss in found]


def test_what_moved_too_far_in_the_good_direction_no_longer_counts() -> None:
    config = replace(QUICK, norm_adv=False)
    # Ratios 1.5 and 0.5; gains 2 and -1. Cut to 1.2 and 0.8: -(1.2 * 2 + 0.8 * -1) / 2, the smaller gain counts.
    policy, value, _ = losses(config, [2.0, -1.0], [1.5, 0.5], [0.0, 0.0])
    assert policy == pytest.approx(-(2.4 - 0.8) / 2)
    assert value == pytest.approx((4 + 1) / 2)
    # In the bad direction nothing is cut: -(0.5 * 2 + 1.5 * -1) / 2.
    assert losses(config, [2.0, -1.0], [0.5, 1.5], [0.0, 0.0])[0] == pytest.approx(-(1.0 - 1.5) / 2)


def test_actions_that_have_become_far_more_probable_leave_the_loss_finite() -> None:
    agent = learner(config=replace(QUICK, norm_adv=False))
    part = agent.collect().at(torch.arange(2))
    before = torch.full((1, 2), -200.0)  # narrow Gaussians make such densities
    policy, *_ = agent._losses(part, before, torch.ones(1, 2), torch.tensor([[0.0, -1.0]]))
    assert torch.isfinite(policy)


def test_the_value_loss_is_the_squared_error_of_the_return() -> None:
    # The return is 1 + 2 = 3; the value moved from 1 to 2.5.
    config = replace(QUICK, norm_adv=False)
    assert losses(config, [2.0, 2.0], [1.0, 1.0], [1.5, 1.5])[1] == pytest.approx(0.25)


def test_advantages_are_centred_and_scaled_and_entropy_is_that_of_the_policy() -> None:
    # 3 and 1 have mean 2 and standard deviation sqrt(2): 1/sqrt(2) and -1/sqrt(2), with ratios 1.1 and 0.9.
    policy, _, entropy = losses(QUICK, [3.0, 1.0], [1.1, 0.9], [0.0, 0.0])
    assert policy == pytest.approx(-(1.1 - 0.9) / 2 / 2**0.5, abs=1e-6)
    chances = torch.tensor([0.55, 0.45])
    assert entropy == pytest.approx(float(-(chances * chances.log()).sum()))


def test_step_size_and_weight_of_entropy_come_down_to_the_end() -> None:
    config = PPOConfig(learning_rate=1e-3, ent_coef=0.02)
    assert [config.learning_rate_at(at) for at in (0, 0.5, 1, 1.2)] == pytest.approx([1e-3, 5e-4, 0, 0])
    assert [config.ent_coef_at(at) for at in (0, 0.5, 1, 1.2)] == pytest.approx([0.02, 0.011, 0.002, 0.002])


def test_penalties_come_in_with_success_and_go_on_with_the_run() -> None:
    agent, again = learner(), learner()
    rollout = agent.collect()
    won, ended = torch.full_like(rollout.reward, 100.0), torch.ones_like(rollout.terminated)
    agent.learn(rollout._replace(reward=won, terminated=ended), 0.1)
    assert agent.state_dict()["success"] > 0.2
    again.load_state_dict(agent.state_dict())
    assert again.state_dict()["success"] == agent.state_dict()["success"]


@pytest.mark.parametrize("method", ["rm", "rnn"])
def test_minibatches_hold_every_step_once(method: str) -> None:
    agent = learner(method, replace(QUICK, minibatch_size=20))
    rollout = agent.collect()
    numbers = torch.arange(64.0).view(1, 8, 8)
    parts = list(agent._minibatches(rollout, numbers))
    # 64 steps in parts of about 20 are three; 8 environments of 8 steps in parts of about 20 steps are four.
    assert [rows[0].shape for _, rows in parts] == ([(8, 2)] * 4 if method == "rnn" else [(1, 22), (1, 21), (1, 21)])
    assert sorted(torch.cat([rows.flatten() for _, rows in parts]).tolist()) == list(range(64))
    for part, rows in parts:
        at = rows[0].long()
        assert torch.equal(part.action, rollout.action.flatten()[at])
        assert torch.equal(part.observation, rollout.observation.flatten()[at])


def test_a_recurrent_memory_is_replayed_through_the_whole_rollout_of_its_environments() -> None:
    agent = learner("rnn", steps=5)  # episodes end within rollouts
    agent.learn(agent.collect(), 0.0)
    rollout = agent.collect()
    assert bool(rollout.done.any())
    assert bool(rollout.carry[0].abs().sum() > 0)
    scores, values = agent.actor.evaluate(rollout)
    chosen = torch.tensor([6, 1, 3])
    part_scores, part_values = agent.actor.evaluate(rollout.of(chosen))
    torch.testing.assert_close(part_scores, scores[:, chosen])
    torch.testing.assert_close(part_values, values[:, chosen])
    # What the policy saw when it acted.
    torch.testing.assert_close(agent.memory.feature(rollout.carry), agent.actor._remembered(rollout))


@pytest.mark.parametrize(
    ("name", "value"), [("update_epochs", 0), ("minibatch_size", -1), ("gae_lambda", 1.5), ("num_steps", 0)]
)
def test_impossible_settings(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"algorithm.{name}.*{value}"):
        PPOConfig(**{name: value})


def values_of(agent: PPO) -> Tensor:
    """(parameters,) all of them in a row."""
    return torch.cat([parameter.detach().flatten() for parameter in agent.actor.parameters])


def test_a_step_size_of_nothing_at_the_end_changes_nothing() -> None:
    agent = learner()
    agent.learn(agent.collect(), 0.0)
    before = values_of(agent)
    agent.learn(agent.collect(), 1.0)
    assert torch.equal(values_of(agent), before)


@pytest.mark.parametrize("method", ["nrm", "frozen"])
def test_beliefs_read_rewards_in_the_first_half_of_training(method: str) -> None:
    made = trainer(method, episodes=100)
    memory: Any = made.learner.memory
    kinds = []
    while not made.done:
        half = made.progress >= 0.5
        made.update()
        kinds.append((half, memory.belief))
    assert set(kinds) == {(False, "filtered"), (True, "open-loop")}
