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
from nrm.agents.networks.paper import ActorCritic, ImageFeatures
from nrm.envs import BatchedTasks, MinecraftConfig
from nrm.errors import TrainingError
from nrm.neural import FlatFeatures
from nrm.runs import RunFolder, choose_run, train

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
    torch.testing.assert_close(logits, plain(net, 0, net.actor)(joined))
    torch.testing.assert_close(values, plain(net, 1, net.critic)(joined).squeeze(-1))


def rm_agent(**env: Any) -> A2C:
    machine = nrm.compile("F(pickaxe & F lava) & G !door", SYMBOLS)
    learner = new_trainer(BatchedTasks(MinecraftConfig(**env), machine, 8), "rm", seed=3).learner
    assert isinstance(learner, A2C)
    return learner


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
    with pytest.raises(TrainingError, match=r"15\d episodes.*update \d+.*learning_rate.*episode 15\d"):
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
