"""The network that finds the agent and sees things from there."""

import math

import pytest
import torch
from torch import Tensor

import nrm
from nrm.agents import new_trainer
from nrm.agents.actions import DiscreteActions
from nrm.agents.networks import NetworkConfig, Sight
from nrm.agents.networks.egocentric import DIRECTIONS, HEADS, EgocentricNetwork, _offsets
from nrm.agents.networks.layers import CHANNELS, FILTERS, SUMMARY_WIDTH
from nrm.agents.ppo import PPO, PPOConfig, inverse_weight
from nrm.envs import BatchedTasks, MinecraftConfig
from nrm.errors import ConfigError
from nrm.observations import ObservationSpec


def network(side: int = 64, memory: int = 5) -> EgocentricNetwork:
    torch.manual_seed(0)
    return EgocentricNetwork(Sight(ObservationSpec((side, side, 3), torch.float32), None), memory, DiscreteActions(4))


def images(count: int, side: int = 64) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 256, (count, side, side, 3), dtype=torch.uint8, generator=generator)


def test_offsets_are_the_same_wherever_one_stands() -> None:
    height, across = 2, 3
    numbers = _offsets(height, across)
    seen: dict[tuple[int, int], int] = {}
    for first in range(6):
        for second in range(6):
            offset = (second // across - first // across, second % across - first % across)
            assert seen.setdefault(offset, int(numbers[first, second])) == int(numbers[first, second])
    assert sorted(seen.values()) == list(range((2 * height - 1) * (2 * across - 1)))


def test_sums_over_places_are_those_of_the_formula() -> None:
    net = network(16)  # 2x2 places
    features, memory = net.encoder(images(3, 16)), torch.randn(3, 5)
    maps = features.view(3, CHANNELS, 4)
    here, offsets = net.attention(features), _offsets(2, 2)
    filters = net.filters(memory).view(3, FILTERS, CHANNELS)
    seen = torch.zeros(3, HEADS, FILTERS, DIRECTIONS)
    for n in range(3):
        wanted = (filters[n] @ (maps[n] + net.position)).relu()
        for head in range(HEADS):
            for p in range(4):
                for q in range(4):
                    weights = net.weights[offsets[p, q], head]
                    seen[n, head] += here[n, head, p] * wanted[:, q, None] * weights
    shown = (maps[:, :, None] * here[:, None]).sum(-1)
    joined = [seen.flatten(1).relu(), shown.flatten(1), net.wanted(memory).relu()]
    slow = net.full(torch.cat(joined, 1))
    torch.testing.assert_close(net.hidden(features, memory), slow, rtol=1e-4, atol=1e-5)


def test_what_moves_together_looks_the_same() -> None:
    # Agent and thing moved by one place: without the map of places nothing else changes.
    net = network(32)  # 4x4 places
    with torch.no_grad():
        net.position.zero_()
        net.looks.weight.zero_()
        net.looks.weight[:, 0, 1, 1] = 10.0
        maps = torch.zeros(2, CHANNELS, 4, 4)
        maps[0, 0, 1, 1] = maps[1, 0, 2, 2] = 1.0
        maps[0, 1, 0, 1] = maps[1, 1, 1, 2] = 1.0
        hidden = net.hidden(maps.flatten(1), torch.ones(2, 5))
    torch.testing.assert_close(hidden[0], hidden[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("side", [4, 7, 56, 64, 65])
def test_images_of_any_size_are_seen(side: int) -> None:
    net = network(side)
    features = net.encoder(images(3, side))
    scores, values = net(features, torch.randn(3, 5))
    assert scores.shape == (3, 4)
    assert values.shape == (3,)
    assert net.summary(features.view(1, 3, -1)).shape == (1, 3, SUMMARY_WIDTH)
    torch.testing.assert_close(net.attention(features).sum(-1), torch.ones(3, HEADS))


def test_vectors_are_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"--network\.encoder auto"):
        EgocentricNetwork(Sight(ObservationSpec((4,), torch.float32), None), 2, DiscreteActions(4))


def test_actions_are_told_from_where_the_attended_place_went() -> None:
    net = network(32)  # 4x4 places
    with torch.no_grad():
        net.looks.weight.zero_()
        net.looks.weight[:, 0, 1, 1] = 100.0
        maps = torch.zeros(2, CHANNELS, 4, 4)
        maps[0, 0, 1, 1] = maps[1, 0, 1, 2] = 1.0
        before, after = maps.flatten(1)[:1], maps.flatten(1)[1:]
        moves = net.moves
        assert isinstance(moves, torch.nn.Linear)
        expected = moves.bias + moves.weight[:, 1::2].sum(1)  # one column to the right, for every head
        torch.testing.assert_close(net.motion(before, after)[0][0], expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(net.motion(before, before)[0][0], moves.bias, rtol=1e-4, atol=1e-4)


def drawn_agent(encoder: str = "auto", seed: int = 0) -> PPO:
    config = MinecraftConfig(observation="image", layout="episode", pixels=32)
    env = BatchedTasks(config, nrm.compile("F gem", ("gem", "lava", "door", "pickaxe", "empty")), 16)
    settings = {"network": NetworkConfig(encoder=encoder), "algorithm": PPOConfig(num_steps=16, minibatch_size=64)}
    made = new_trainer(env, "rm", "ppo", episodes=1000, seed=seed, settings=settings).learner
    assert isinstance(made, PPO)
    return made


def test_surprise_is_what_single_actions_surprise_by_and_what_is_missed_of_what_moves() -> None:
    agent = drawn_agent()
    whole = agent.collect()
    rollout, prepared = whole.subsample(4), agent.actor.preprocess(whole)
    assert prepared.observation.dtype == torch.int64  # numbers of patches
    assert len(rollout.reward) == 4
    net, alone, unseen = agent.policy, [], []
    for time in range(4):
        for env in range(16):
            seen = [column[time, env].unsqueeze(0) for column in (rollout.observation, rollout.final_observation)]
            scores, _ = net.motion(*(net.encoder(one) for one in seen))
            alone.append(-scores.log_softmax(-1)[0, rollout.action[time, env]])
            changed = (seen[0] != seen[1]).any(-1).view(4, 8, 4, 8).amax((1, 3)).flatten()  # 4x4 places of 8x8 pixels
            if 0 < changed.sum() <= 4:
                there = torch.stack([net.attention(net.encoder(one))[0, :, changed].sum(-1) for one in seen])
                unseen.append(-there.log().mean())
    found = agent.actor.inverse_dynamics_loss(prepared.subsample(4))
    assert found is not None
    expected = torch.stack(alone).mean() + torch.stack(unseen).mean()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def told_badly(agent: PPO) -> float:
    found = agent.actor.inverse_dynamics_loss(agent.actor.preprocess(agent.collect()))
    assert found is not None
    return float(found)


def test_where_the_agent_is_comes_to_be_known_from_what_actions_move() -> None:
    agent = drawn_agent()
    begun = told_badly(agent)
    for _ in range(25):
        agent.learn(agent.collect(), 0.0)
    assert told_badly(agent) < 0.8 * begun


def test_networks_that_do_not_tell_actions_are_not_asked() -> None:
    agent = drawn_agent("dynamic")
    assert agent.actor.inverse_dynamics_loss(agent.collect()) is None
    assert inverse_weight(0.4) == pytest.approx(0.5)
    assert inverse_weight(0.85) == 0.0


def test_weights_begin_as_a_compass() -> None:
    weights = network(32).weights.mean(1).view(7, 7, 2, 8).detach()  # offsets down and right, reaches, directions
    near, far = weights[3, 4, :, 0], weights[3, 6, :, 0]  # one and three places to the right, seen to the right
    expected = [0.5 * math.exp(-away / reach) for away in (1, 3) for reach in (2, 6)]
    torch.testing.assert_close(torch.cat([near, far]), torch.tensor(expected), rtol=0, atol=0.06)
    # The same to the left has the other sign, and below the third direction speaks instead of the first.
    torch.testing.assert_close(weights[3, 2, :, 0], -near, rtol=0, atol=0.12)
    torch.testing.assert_close(weights[4, 3, :, 2], near, rtol=0, atol=0.12)
    torch.testing.assert_close(weights[4, 3, :, 0], torch.zeros(2), rtol=0, atol=0.06)
