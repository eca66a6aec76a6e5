"""What the agent computes fast, computed slowly: networks side by side, policies as tables, entropy that comes down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import nrm
from nrm.agents import new_trainer
from nrm.agents.a2c import A2C, A2CConfig
from nrm.agents.actions import DiscreteActions
from nrm.agents.networks import NetworkConfig
from nrm.agents.networks.paper import ActorCritic, ImageFeatures
from nrm.envs import BatchedTasks, MinecraftConfig
from nrm.errors import ConfigError, TrainingError
from nrm.neural import FlatFeatures
from nrm.runs import RunFolder, choose_run, train
from nrm.tracking import StateMemory

SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")


def plain(net: ActorCritic, twin: int, last: nn.Module) -> nn.Sequential:
    """The actor (0) or the critic (1) as three ordinary layers."""
    layers = nn.Sequential(
        nn.Linear(net.first.shape[1], net.first.shape[2]), nn.Tanh(), nn.Linear(*net.second.shape[1:]), nn.Tanh(), last
    )
    weights = {"0.weight": net.first, "2.weight": net.second, "0.bias": net.first_bias, "2.bias": net.second_bias}
    for name, value in weights.items():
        layer, kind = name.split(".")
        chosen = value[twin].t() if kind == "weight" else value[twin, 0]
        getattr(layers[int(layer)], kind).data = chosen.detach().clone()
    return layers


def test_actor_and_critic_are_two_networks_of_three_layers() -> None:
    net = ActorCritic(FlatFeatures((2,)), memory=5, head=DiscreteActions(4), hidden=16)
    features, memory = torch.randn(9, 2), torch.randn(9, 5)
    joined = torch.cat([features, memory], 1)
    logits, values = net(features, memory)
    for actual in (logits, net.logits(features, memory)):
        torch.testing.assert_close(actual, plain(net, 0, net.actor)(joined))
    for actual in (values, net.value(features, memory)):
        torch.testing.assert_close(actual, plain(net, 1, net.critic)(joined).squeeze(-1))


def rm_agent(**env: Any) -> A2C:
    machine = nrm.compile("F(pickaxe & F lava) & G !door", SYMBOLS)
    learner = new_trainer(BatchedTasks(MinecraftConfig(**env), machine, 8), "rm", seed=3).learner
    assert isinstance(learner, A2C)
    return learner


@pytest.mark.parametrize("observation", ["map", "image"])
def test_a_policy_as_a_table_acts_and_learns_as_one_without(observation: str) -> None:
    fast, slow = (rm_agent(observation=observation) for _ in range(2))
    assert fast.actor._tabled
    slow.actor._tabled = False
    for _ in range(12):
        rollout, twin = fast.collect(), slow.collect()
        assert all(torch.equal(one, other) for one, other in zip(rollout, twin, strict=True))
        torch.testing.assert_close(fast.learn(rollout, 0.1), slow.learn(twin, 0.1), rtol=1e-3, atol=1e-5)
    for one, other in zip(fast.actor.parameters, slow.actor.parameters, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


class WideMemory(StateMemory):
    """A memory whose feature is wider than its table has rows."""

    def __init__(self, machine: nrm.MooreMachine) -> None:
        super().__init__(nrm.machines.TaskSet.of([machine]))
        generator = torch.Generator().manual_seed(0)
        self.size, self.view_letters = 2 * machine.states + 3, None
        self.table = torch.randn(machine.states, self.size, generator=generator)


def test_the_rows_of_a_tabled_policy_go_by_the_rows_of_the_memory() -> None:
    machine = nrm.compile("F(pickaxe & F lava) & G !door", SYMBOLS)
    agents = []
    for tabled in (True, False):
        env = BatchedTasks(MinecraftConfig(), machine, 8)
        agents.append(A2C(env, WideMemory(machine), A2CConfig(num_steps=20), NetworkConfig(), seed=3))
        agents[-1].actor._tabled = tabled
    rollouts = [agent.collect() for agent in agents]
    assert all(torch.equal(one, other) for one, other in zip(*rollouts, strict=True))
    for one, other in zip(*(agent.actor.evaluate(rollouts[0]) for agent in agents), strict=True):
        torch.testing.assert_close(one, other)


def test_a_table_that_does_not_hold_the_features_is_refused() -> None:
    class Halved(StateMemory):
        def feature(self, carry: Tensor) -> Tensor:
            return super().feature(carry // 2)

    machine = nrm.compile("F(pickaxe & F lava) & G !door", SYMBOLS)
    with pytest.raises(ConfigError, match=r"feature\(carry\) is table\[carry\]"):
        A2C(BatchedTasks(MinecraftConfig(), machine, 8), Halved.of(machine), A2CConfig(), NetworkConfig(), seed=0)


def test_large_envs_have_no_table() -> None:
    assert not rm_agent(size=(12, 12)).actor._tabled


def test_the_weight_of_entropy_comes_down_until_half_way() -> None:
    config = A2CConfig(ent_coef=0.05, final_ent_coef=0.01)
    assert config.ent_coef_at(0) == pytest.approx(0.05)
    assert config.ent_coef_at(0.25) == pytest.approx(0.03)
    assert config.ent_coef_at(0.5) == config.ent_coef_at(1.0) == pytest.approx(0.01)


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path / "run")
    config = choose_run("1", "map", "rm", total_episodes=400)
    folder.begin(config)
    trainer = config.build_trainer()
    assert isinstance(trainer.learner, A2C)
    genuine = trainer.learner.policy.forward

    def broken(features: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        bad = len(trainer.history.returns) > 150
        logits, values = genuine(features, memory)
        return logits, values * (float("nan") if bad else 1.0)

    monkeypatch.setattr(trainer.learner.policy, "forward", broken)
    monkeypatch.setattr("nrm.runs.folder.MAX_SAVING", float("inf"))  # saves as often as it is told
    with pytest.raises(
        TrainingError, match=r"after 15\d episodes, in update \d+: .*learning_rate.*episode 15\d is kept"
    ):
        train(folder, trainer, seconds=0.0)
    assert len(folder.load().history.returns) > 150


def test_image_features_tell_the_cells_apart_from_the_start() -> None:
    frames = BatchedTasks(MinecraftConfig(observation="image"), nrm.compile("F gem", SYMBOLS), 1).frames
    assert frames is not None
    assert ImageFeatures((64, 64, 3))(frames).std(0).mean() < 0.01
    spread_out = ImageFeatures((64, 64, 3), frames)
    assert spread_out(frames).std(0).mean() > 0.1
    logits = torch.logit(spread_out(frames))
    torch.testing.assert_close(logits.mean(0), torch.zeros(32), rtol=0, atol=1e-3)
    # Nothing can be learned from copies of one image: the network stays as it was drawn.
    torch.manual_seed(0)
    drawn = ImageFeatures((64, 64, 3))
    torch.manual_seed(0)
    assert torch.equal(ImageFeatures((64, 64, 3), frames[:1].repeat(4, 1, 1, 1))(frames), drawn(frames))
