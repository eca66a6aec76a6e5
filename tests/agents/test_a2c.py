"""What the agent computes fast, computed slowly: networks side by side, policies as tables, entropy that comes down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import nrm
from nrm.agents import AgentConfig, Trainer
from nrm.agents.networks import ActorCritic, FlatFeatures, ImageFeatures
from nrm.envs import BatchedMinecraft, MinecraftConfig
from nrm.errors import TrainingError
from nrm.runs import RunFolder, choose_run, new_trainer, train

SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
QUICK = AgentConfig(episodes=200, environments=8)


def plain(net: ActorCritic, twin: int, last: nn.Linear) -> nn.Sequential:
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
    net = ActorCritic(FlatFeatures((2,)), memory=5, actions=4, hidden=16)
    features, memory = torch.randn(9, 2), torch.randn(9, 5)
    joined = torch.cat([features, memory], 1)
    logits, values = net(features, memory)
    for actual in (logits, net.logits(features, memory)):
        torch.testing.assert_close(actual, plain(net, 0, net.actor)(joined))
    for actual in (values, net.value(features, memory)):
        torch.testing.assert_close(actual, plain(net, 1, net.critic)(joined).squeeze(-1))


def rm_trainer(tabled: bool, **world: Any) -> Trainer:
    machine = nrm.compile("F(pickaxe & F lava) & G !door", SYMBOLS)
    trainer = Trainer(BatchedMinecraft(MinecraftConfig(**world), machine, 8), "rm", QUICK, seed=3)
    assert trainer.agent._tabled
    trainer.agent._tabled = tabled
    return trainer


@pytest.mark.parametrize("observation", ["map", "image"])
def test_a_policy_as_a_table_acts_and_learns_as_one_without(observation: str) -> None:
    fast, slow = (rm_trainer(tabled, observation=observation) for tabled in (True, False))
    for _ in range(12):
        start = fast.agent.carry
        window, _ = fast.agent.collect()
        twin, _ = slow.agent.collect()
        assert all(torch.equal(one, other) for one, other in zip(window, twin, strict=True))
        torch.testing.assert_close(fast.agent.learn(window, start), slow.agent.learn(twin, start), rtol=1e-3, atol=1e-5)
    for one, other in zip(fast.agent.parameters, slow.agent.parameters, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_large_worlds_have_no_table() -> None:
    machine = nrm.compile("F(pickaxe & F lava) & G !door", SYMBOLS)
    world = BatchedMinecraft(MinecraftConfig(size=(12, 12)), machine, 8)
    assert not Trainer(world, "rm", QUICK, seed=3).agent._tabled


def test_the_weight_of_entropy_comes_down_until_half_way() -> None:
    config = replace(QUICK, entropy_weight=0.05, final_entropy_weight=0.01)
    assert config.entropy_weight_after(0) == pytest.approx(0.05)
    assert config.entropy_weight_after(50) == pytest.approx(0.03)
    assert config.entropy_weight_after(100) == config.entropy_weight_after(200) == pytest.approx(0.01)


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path / "run")
    config = choose_run("1", "map", "rm", episodes=400)
    folder.begin(config)
    trainer = new_trainer(config)
    genuine = trainer.agent.net.value

    def broken(features: Tensor, memory: Tensor) -> Tensor:
        bad = len(trainer.history.returns) > 150
        return genuine(features, memory) * (float("nan") if bad else 1.0)

    monkeypatch.setattr(trainer.agent.net, "value", broken)
    with pytest.raises(
        TrainingError, match=r"after 15\d episodes, in update \d+: .*learning_rate.*episode 1\d\d is kept"
    ):
        train(folder, trainer, every=100)
    assert 100 <= len(folder.load().history.returns) < 150


def test_image_features_tell_the_cells_apart_from_the_start() -> None:
    frames = BatchedMinecraft(MinecraftConfig(observation="image"), nrm.compile("F gem", SYMBOLS), 1).frames
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
