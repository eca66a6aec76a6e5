"""Evaluation with the numbers computed by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import nrm
from nrm.agents import METHODS, Trainer, evaluate, new_trainer, play
from nrm.agents.actions import head_for
from nrm.envs import BatchedEnv, BatchedTasks, MinecraftConfig, StepBatch, with_noisy_labels
from nrm.tracking import Belief

SYMBOLS = ("gem", "lava", "empty")
ENV = MinecraftConfig(size=(4, 1), items=["gem@2,0", "lava@3,0"], steps=6)
"""Four cells in a row: start, nothing, gem, lava."""
UP, RIGHT = 0, 1


class Scripted:
    """A policy that knows the cell by its features: there is one action for each."""

    head = head_for(4)

    def __init__(self, actions: list[int]) -> None:
        self.actions = torch.tensor(actions)

    def encoder(self, observations: Tensor) -> Tensor:
        return observations.float()

    def summary(self, features: Tensor) -> Tensor:
        return features

    def __call__(self, features: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        logits = torch.nn.functional.one_hot(self.actions[features[:, 0].long()], 4).float() * 100
        return logits, logits[:, 0]


def trainer(formula: str, actions: list[int], method: str = "rm") -> Trainer:
    made = new_trainer(BatchedTasks(ENV, nrm.compile(formula, SYMBOLS), 2), method, episodes=10)
    made.learner.policy = Scripted(actions)  # type: ignore[misc]
    return made


def found(formula: str, actions: list[int], episodes: int = 6, method: str = "rm", count: int = 4) -> tuple[float, ...]:
    env = BatchedTasks(ENV, nrm.compile(formula, SYMBOLS), count)
    result = evaluate(trainer(formula, actions, method), env, episodes, seed=0, greedy=True)
    return result.episodes, result.mean_return, result.success_rate, result.mean_length


def test_always_right_reaches_both() -> None:
    # Two steps to the gem pay 50, one more to the lava pays 50: 100 in three steps.
    assert found("F(gem & F lava)", [RIGHT] * 4) == (6, 100.0, 1.0, 3.0)


def test_half_of_the_task_is_no_success() -> None:
    # Stops at the gem, and the limit of six steps ends the episode with half of the reward.
    assert found("F(gem & F lava)", [RIGHT, RIGHT, UP, UP]) == (6, 50.0, 0.0, 6.0)


def test_a_task_that_is_lost() -> None:
    # The gem, which is forbidden, lies on the way: the potential falls from 0 to -100, and the episode ends.
    assert found("F lava & G !gem", [RIGHT] * 4, episodes=3, count=2) == (3, -100.0, 0.0, 2.0)


def test_each_environment_does_its_share_and_no_more() -> None:
    assert found("F gem", [RIGHT] * 4, episodes=5, count=3) == (5, 100.0, 1.0, 2.0)
    assert found("F gem", [RIGHT] * 4, episodes=2, count=3) == (2, 100.0, 1.0, 2.0)


def test_tracking_of_states() -> None:
    machine = nrm.compile("F(gem & F lava)", SYMBOLS)
    env = BatchedTasks(ENV, machine, 2)
    told = evaluate(trainer("F(gem & F lava)", [RIGHT] * 4), env, 4, seed=0, greedy=True)
    assert told.state_accuracy == told.state_accuracy_modulo_shortcuts == 1.0
    blind = evaluate(trainer("F(gem & F lava)", [RIGHT] * 4, "rnn"), env, 4, seed=0, greedy=True)
    assert blind.state_accuracy is None
    assert blind.grounding is None


def test_grounding_over_what_was_met() -> None:
    # Met in each episode: nothing, gem, lava, once each. A grounder that always says `gem` is right once in three.
    made = trainer("F(gem & F lava)", [RIGHT] * 4, "nrm")
    assert made.model is not None

    class AlwaysGem(torch.nn.Module):
        def forward(self, observations: Tensor) -> Tensor:
            return torch.tensor([[1.0, 0.0, 0.0]]).expand(len(observations), -1)

    made.model.grounder = AlwaysGem()
    env = BatchedTasks(ENV, nrm.compile("F(gem & F lava)", SYMBOLS), 2)
    result = evaluate(made, env, 4, seed=0, greedy=True)
    assert result.grounding is not None
    assert result.grounding.plain == pytest.approx(1 / 3)
    assert result.grounding.balanced == pytest.approx(1 / 3)


class Repaid(BatchedTasks):
    """An environment that shows its agents other rewards than it pays."""

    def step(self, action: Tensor) -> StepBatch:
        batch = super().step(action)
        return batch._replace(reward=batch.reward.flip(0) - 50)


@pytest.mark.parametrize("method", METHODS.own)
def test_a_test_reads_no_rewards_unless_it_says_so(method: str) -> None:
    machine = nrm.compile("F(gem & F lava)", SYMBOLS)
    labels = {"naive": "0.1", "independent-belief": "0.1"}.get(method)

    def detected(env: BatchedEnv) -> BatchedEnv:
        return env if labels is None else with_noisy_labels(env, labels)

    made = new_trainer(detected(BatchedTasks(ENV, machine, 4)), method, episodes=60, seed=3)
    made.run()

    def features(env: BatchedEnv, belief: Belief | None) -> list[Tensor]:
        return [
            step.memory for step, _ in zip(play(made, env, 1, greedy=False, belief=belief), range(30), strict=False)
        ]

    honest, repaid = (detected(kind(ENV, machine, 4)) for kind in (BatchedTasks, Repaid))
    for one, other in zip(features(honest, None), features(repaid, None), strict=True):
        assert torch.equal(one, other)
    if method in ("nrm", "frozen", "return"):
        told = zip(features(honest, "filtered"), features(repaid, "filtered"), strict=True)
        assert not all(torch.equal(one, other) for one, other in told)


def test_filtered_beliefs_hide_a_random_grounder() -> None:
    # With a potential of its own for every state, the rewards alone tell the state: symbols are not put to the test.
    machine = nrm.compile("F(gem & F lava)", SYMBOLS)
    made = new_trainer(BatchedTasks(ENV, machine, 4), "frozen", episodes=60, seed=3)
    assert made.accuracy() is not None
    made.learner.policy = Scripted([RIGHT] * 4)  # type: ignore[misc]
    env = BatchedTasks(ENV, machine, 4)
    filtered, tested = (evaluate(made, env, 8, 0, greedy=True, belief=kind) for kind in ("filtered", None))
    assert filtered.state_accuracy == 1.0
    assert tested.state_accuracy is not None
    assert tested.state_accuracy < 1.0
