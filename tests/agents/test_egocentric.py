"""The network that finds the agent and sees things from there."""

import pytest
import torch
from torch import Tensor

from nrm.agents.actions import DiscreteActions
from nrm.agents.networks import NetworkConfig, Sight
from nrm.agents.networks.egocentric import DIRECTIONS, FILTERS, READ, EgocentricNetwork, _offsets
from nrm.agents.networks.residual import CHANNELS
from nrm.errors import ConfigError


def network(side: int = 64, memory: int = 5) -> EgocentricNetwork:
    torch.manual_seed(0)
    return EgocentricNetwork(Sight((side, side, 3), None, endless=True), memory, DiscreteActions(4), normalise=True)


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
    seen = torch.zeros(3, FILTERS, DIRECTIONS)
    for n in range(3):
        wanted = (filters[n] @ (maps[n] + net.position)).relu()
        for p in range(4):
            for q in range(4):
                seen[n] += here[n, p] * wanted[:, q, None] * net.weights[offsets[p, q]]
    shown = (maps * here[:, None]).sum(-1)
    slow = net.full(torch.cat([seen.flatten(1).relu(), shown, net.wanted(memory).relu()], 1))
    torch.testing.assert_close(net.hidden(features, memory), slow, rtol=1e-4, atol=1e-5)


def test_what_moves_together_looks_the_same() -> None:
    # Agent and thing moved by one place: without the map of places nothing else changes.
    net = network(32)  # 4x4 places
    with torch.no_grad():
        net.position.zero_()
        net.looks.zero_()
        net.looks[0] = 10.0
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
    assert net.summary(features.view(1, 3, -1)).shape == (1, 3, READ)
    torch.testing.assert_close(net.attention(features).sum(-1), torch.ones(3))


def test_vectors_are_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"--network\.encoder paper"):
        EgocentricNetwork(Sight((4,), None, endless=True), 2, DiscreteActions(4), NetworkConfig().normalise)
