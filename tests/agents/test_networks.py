"""Networks by name: what is computed fast, computed slowly; what they must be able to see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import nrm
from nrm.agents import NetworkConfig, Trainer, evaluate, new_trainer
from nrm.agents.actions import BoxActions, DiscreteActions
from nrm.agents.networks import NETWORKS, Sight
from nrm.agents.networks.dynamic import DynamicNetwork
from nrm.agents.networks.egocentric import EgocentricNetwork
from nrm.agents.networks.layers import Patches, RunningFeatures
from nrm.agents.networks.paper import ActorCritic
from nrm.agents.ppo import PPOConfig
from nrm.envs import BatchedTasks, MinecraftConfig
from nrm.errors import ConfigError
from nrm.observations import ObservationSpec
from nrm.runs import choose_run

SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")
DRAWN = MinecraftConfig(observation="image", layout="episode")


def env(config: MinecraftConfig = DRAWN, count: int = 4) -> BatchedTasks:
    return BatchedTasks(config, nrm.compile("F(pickaxe & F gem)", SYMBOLS), count)


def images(count: int = 6, side: int = 64) -> Tensor:
    return torch.randint(0, 256, (count, side, side, 3), generator=torch.Generator().manual_seed(0)).to(torch.uint8)


@pytest.mark.parametrize(
    ("config", "algorithm", "kind"),
    [
        (DRAWN, "ppo", EgocentricNetwork),
        (DRAWN, "a2c", ActorCritic),
        (MinecraftConfig(observation="image"), "ppo", ActorCritic),
        (MinecraftConfig(), "ppo", ActorCritic),
        (MinecraftConfig(layout="episode"), "ppo", ActorCritic),
    ],
)
def test_images_without_end_are_looked_at_as_suits_the_algorithm(
    config: MinecraftConfig, algorithm: str, kind: type
) -> None:
    assert isinstance(new_trainer(env(config), "rm", algorithm).learner.policy, kind)
    named = {"network": NetworkConfig(encoder="paper")}
    assert isinstance(new_trainer(env(config), "rm", algorithm, settings=named).learner.policy, ActorCritic)


def test_images_that_are_seen_from_the_agent_already_need_no_search_for_it() -> None:
    config = choose_run(
        None, "letter-image", "rm", 0, tasks="reach", settings={"tasks": {"count": 3}}, total_timesteps=10
    )
    assert isinstance(config.build_trainer().learner.policy, DynamicNetwork)


def test_scaling_weights_is_scaling_pixels() -> None:
    sample = images(20) // 3 + 40
    patches = Patches((64, 64, 3), sample)
    pixels = sample.float()
    scaled = (pixels - pixels.mean((0, 1, 2))) / (pixels - pixels.mean((0, 1, 2))).std()
    slow = patches.second(patches.first(scaled.permute(0, 3, 1, 2)).relu()).relu().flatten(1)
    torch.testing.assert_close(patches(sample), slow, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("side", [4, 7, 56, 64, 65])
def test_images_of_any_size_are_seen(side: int) -> None:
    net = DynamicNetwork(Sight(ObservationSpec((side, side, 3), torch.float32), None), 5, DiscreteActions(4))
    features = net.encoder(images(3, side))
    scores, values = net(features, torch.randn(3, 5))
    assert scores.shape == (3, 4)
    assert values.shape == (3,)


@pytest.mark.parametrize("wraps", [True, False])
def test_the_dynamic_network_is_its_definition(wraps: bool) -> None:
    """Filters written by the memory, a convolution of neighbours, on a torus across the edges, and a full layer."""
    torch.manual_seed(0)
    net = DynamicNetwork(Sight(ObservationSpec((4, 5, 3), torch.float32, toroidal=wraps), None), 6, DiscreteActions(4))
    seen, memory = torch.randint(0, 2, (7, 4, 5, 3)), torch.randn(7, 6)
    found = net.hidden(net.encoder(seen), memory)
    maps = torch.einsum("nfc,nhwc->nfhw", net.filters(memory).view(7, 16, 3), seen.float()).relu()
    mode = "circular" if wraps else "constant"
    near = nn.functional.conv2d(nn.functional.pad(maps, (1, 1, 1, 1), mode=mode), net.near.weight, net.near.bias)
    expected = net.full(torch.cat([near.relu().flatten(1), net.wanted(memory).relu()], 1)).relu()
    torch.testing.assert_close(found, expected)
    parameters = [*net.filters.parameters(), *net.near.parameters(), *net.full.parameters(), *net.wanted.parameters()]
    ours, theirs = (torch.autograd.grad(one.square().sum(), parameters) for one in (found, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_pictures_of_letters_are_seen_cell_by_cell() -> None:
    """What stands next to a letter does not change how it looks, to the policy or to the grounder."""
    small = {"env": {"size": 3, "letters": 3}, "tasks": {"count": 12}}
    run = choose_run(None, "letter-image", "nrm", tasks="reach", total_timesteps=10, num_envs=4, settings=small)
    trainer = run.build_trainer()
    assert trainer.model is not None
    seen = trainer.env.reset(0)
    other = seen.clone()
    other[:, :8, 8:16] += 40  # the cell above the middle
    encoder, grounder = trainer.learner.policy.encoder, trainer.model.grounder
    readers: list[Any] = [lambda images: encoder(images).view(4, -1, 3, 3), grounder._maps]
    for maps in readers:
        changed = (maps(seen) != maps(other)).any(1)
        assert changed[:, 0, 1].all()
        assert int(changed.sum()) == 4


def test_features_of_images_begin_uncorrelated_and_no_larger_than_a_grid_of_zeros_and_ones() -> None:
    torch.manual_seed(0)
    looks = torch.randint(0, 256, (5, 8, 8, 3), dtype=torch.uint8)
    which = torch.randint(0, 5, (200, 2, 2))
    images = looks[which].permute(0, 1, 3, 2, 4, 5).reshape(200, 16, 16, 3)
    net = DynamicNetwork(Sight(ObservationSpec((16, 16, 3), torch.uint8, tiled=True), images), 6, DiscreteActions(4))
    assert net.mixed is not None
    shown = net.encoder(images).view(200, -1, 4).transpose(1, 2).flatten(0, 1)
    values = torch.linalg.eigvalsh(torch.cov(net.mixed(shown).T).detach())
    assert float(values.sum()) == pytest.approx(0.5, abs=1e-3)
    # Five looks differ in four directions: these are equally strong, up to what keeps faint ones from growing.
    assert float(values[-4:].min()) > 0.9 * float(values[-1])
    assert float(values[:-4].sum()) < 1e-3


@pytest.mark.parametrize("method", ["rm", "rnn"])
def test_what_acting_found_is_what_learning_would_find(method: str) -> None:
    small = {"env": {"size": 3, "letters": 3, "steps": 5}, "tasks": {"count": 12}}
    run = choose_run(
        None, "letter", method, tasks="reach", total_timesteps=10, num_envs=4, settings=small
    ).build_trainer()
    actor: Any = run.learner.actor  # type: ignore[attr-defined]
    rollout = actor.collect()
    with torch.no_grad():
        anew = actor.evaluate(rollout)
    torch.testing.assert_close((rollout.scores, rollout.value), anew)


def test_small_images_and_vectors_are_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match="3x3"):
        Patches((3, 3, 3), None)
    with pytest.raises(ConfigError, match=r"--network\.encoder auto"):
        new_trainer(env(MinecraftConfig()), "rm", settings={"network": NetworkConfig(encoder="egocentric")})
    with pytest.raises(ConfigError, match=r"'egocentrc'.*'egocentric'"):
        new_trainer(env(), "rm", settings={"network": NetworkConfig(encoder="egocentrc")})
    assert list(NETWORKS) == ["standard", "paper", "dynamic", "egocentric", "planning", "fourier", "parts", "blind"]


def test_running_statistics_are_those_of_all_that_was_seen() -> None:
    features = RunningFeatures((3,))
    rows = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 20.0, 0.0]) + 7
    for part in rows.split([1, 20, 29]):  # type: ignore[no-untyped-call]
        features.notice(part)
    torch.testing.assert_close(features(rows), rows.clamp(-10, 10))  # as it is until it settles
    features.settle()
    scaled = features(rows)
    torch.testing.assert_close(scaled.mean(0), torch.zeros(3), rtol=0, atol=1e-4)
    torch.testing.assert_close(scaled[:, :2].std(0, unbiased=False), torch.ones(2), rtol=0, atol=1e-4)
    assert bool((scaled[:, 2] == 0).all())
    assert features(torch.full((1, 3), 1e9)).tolist() == [[10.0] * 3]


def test_a_policy_acts_and_learns_with_the_same_statistics_and_saves_them() -> None:
    config = MinecraftConfig(layout="episode")  # positions, whose layouts are drawn: no list of frames

    def begin() -> Trainer:
        settings = {"algorithm": PPOConfig(num_steps=8, minibatch_size=16)}
        return new_trainer(env(config), "rm", "ppo", episodes=12, seed=1, settings=settings)

    made, saved = begin(), begin()
    actor: Any = made.learner.actor  # type: ignore[attr-defined]
    assert isinstance(actor.net, ActorCritic)
    assert isinstance(actor.net.encoder, RunningFeatures)
    rollout = made.learner.collect()
    assert float(actor.net.encoder.count) == rollout.reward.numel()
    assert actor.net.encoder.spread.tolist() == [1.0, 1.0]
    made.learner.learn(rollout, 0.0)
    torch.testing.assert_close(actor.net.encoder.centre, rollout.observation.flatten(0, 1).mean(0))
    saved.load_state_dict(made.state_dict())
    assert saved.run() == made.run()


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_runs_on_drawn_layouts_go_on_exactly(method: str) -> None:
    config = replace(DRAWN, size=(3, 1), items=["pickaxe", "gem"], pixels=16, steps=8)

    def begin() -> Trainer:
        settings = {"algorithm": PPOConfig(num_steps=8, minibatch_size=16, update_epochs=2)}
        return new_trainer(env(config), method, "ppo", episodes=30, seed=1, settings=settings)

    whole, half, resumed = begin(), begin(), begin()
    whole.run()
    while half.updates < whole.updates // 2:
        half.update()
    resumed.load_state_dict(half.state_dict())
    assert resumed.run() == whole.history


DEEP = """
import torch
from nrm.agents.networks import NetworkKind
from torch import nn


class Deep(nn.Module):
    def __init__(self, sight, memory, head):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(2, 7), nn.ReLU())
        self.body = nn.Linear(7 + memory, 7)
        self.actor, self.critic = head.layer(7), nn.Linear(7, 1)

    def summary(self, features):
        return features[..., :3]

    def forward(self, features, memory):
        hidden = self.body(torch.cat([features, memory], -1)).tanh()
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


DEEP = NetworkKind("deep", "small", reads=lambda shape: 3, build=Deep)
"""


@pytest.mark.parametrize("algorithm", ["a2c", "ppo"])
@pytest.mark.parametrize("method", ["rm", "rnn"])
def test_a_network_from_outside_is_as_good_as_ours(
    method: str, algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_network.py").write_text(DEEP)
    monkeypatch.chdir(tmp_path)
    settings = {"network": NetworkConfig(encoder="my_network:DEEP")}
    made = new_trainer(env(MinecraftConfig()), method, algorithm, episodes=20, settings=settings)
    made.run()
    assert len(made.history.returns) == 20
    assert evaluate(made, env(MinecraftConfig()), 4, seed=0, greedy=False).episodes == 4


def test_waves_by_hand() -> None:
    from nrm.neural import waves

    found = waves(torch.tensor([[0.5, -1.0]]), torch.tensor([[2.0, 0.0], [0.0, 2.0]]))
    expected = torch.tensor([[0.5, -1.0, 0.8415, -0.9093, 0.5403, -0.4161]])
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("head", [DiscreteActions(9), BoxActions(-torch.ones(2), torch.ones(2))])
def test_fields_are_mixed_as_the_memory_says(head: Any) -> None:
    torch.manual_seed(0)
    sight = Sight(ObservationSpec((2,), torch.float32), None)
    net: Any = NETWORKS["fourier"].build(sight, 5, head)
    seen, memory = torch.randn(7, 2), torch.randn(7, 5)
    features = net.encoder(seen)
    assert features.shape == (7, net.encoder.width) == (7, 130)
    assert net.summary(features).shape == (7, NETWORKS["fourier"].reads((2,)))
    _, values = net(features, memory)
    assert values.shape == (7,)
    # The same, one by one and without a batched product.
    for row in range(7):
        trunk = net.trunk(features[row]).relu()
        fields = net.fields(trunk).relu().view(16, -1)
        mixed = net.weights(memory[row]).view(4, 16) @ fields
        hidden = net.second(net.first(torch.cat([trunk, memory[row], mixed.flatten()])).relu()).relu()
        torch.testing.assert_close(net.critic(hidden)[0], values[row])


def test_rows_of_a_sensor_are_mixed_as_the_memory_says() -> None:
    torch.manual_seed(0)
    sight = Sight(ObservationSpec((8,), torch.float32, sensor=(2, 3)), None, letters=3)
    net: Any = NETWORKS["fourier"].build(sight, 13, DiscreteActions(9))
    seen, memory = torch.randn(5, 8), torch.randn(5, 13)
    _, values = net(net.encoder(seen), memory)
    for row in range(5):
        own, first, second = seen[row, :2], seen[row, 2:5], seen[row, 5:]
        weights = net.weights(memory[row]).tolist()
        mixed = [weights[2 * place] * first + weights[2 * place + 1] * second for place in range(8)]
        hidden = net.second(net.first(torch.cat([own, memory[row], *mixed])).tanh()).tanh()
        torch.testing.assert_close(net.critic(hidden)[0], values[row])


def test_the_view_of_a_task_weighs_the_fields_of_letters() -> None:
    torch.manual_seed(0)
    sight = Sight(ObservationSpec((2,), torch.float32), None, letters=3)
    net: Any = NETWORKS["fourier"].build(sight, 13, DiscreteActions(9))
    assert net.weights is None
    features, view = net.encoder(torch.randn(2, 2)), torch.zeros(2, 13)
    # The first letter helps, the second takes one back, the third loses the task; next the second one helps, and the
    # first may take one back or lose the task. The last number is the distance.
    view[:, :6] = torch.tensor([1.0, -1.0, 0.0, 0.0, 0.0, 1.0])
    view[:, 6:] = torch.tensor([-0.5, 1.0, 0.0, 0.25, 0.0, 0.0, 0.2])
    trunk = net.trunk(features).relu()
    fields = net.fields(trunk).relu().view(2, 3, -1)
    harms = fields[:, 1] + fields[:, 2], 0.75 * fields[:, 0]
    mixed = torch.cat([fields[:, 0], fields[:, 1], *harms], 1)
    # The rest of the network is told the same: helps now and next, harms now and next, and the distance.
    told = torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.75, 0.0, 0.0, 0.2]).expand(2, -1)
    hidden = net.second(net.first(torch.cat([trunk, told, mixed], 1)).relu()).relu()
    torch.testing.assert_close(net.hidden(features, view), hidden)


def test_numbers_are_scaled_by_what_was_seen_but_in_the_papers_network() -> None:
    sight = Sight(ObservationSpec((3,), torch.float32), None)
    for name in ("fourier", "standard"):
        net: Any = NETWORKS[name].build(sight, 5, DiscreteActions(3))
        net.encoder.notice(torch.randn(50, 3) * 4 + 2)
        net.encoder.settle()
        assert bool((net.encoder.spread != 1).all())
    papers: Any = NETWORKS["paper"].build(sight, 5, DiscreteActions(3))
    assert torch.equal(papers.encoder(torch.tensor([[3.0, 4.0, 5.0]])), torch.tensor([[3.0, 4.0, 5.0]]))
    with pytest.raises(ConfigError, match=r"\(4, 4, 3\)"):
        NETWORKS["fourier"].build(Sight(ObservationSpec((4, 4, 3), torch.float32), None), 5, DiscreteActions(3))
