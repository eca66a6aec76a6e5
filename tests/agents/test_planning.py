"""The network that plans: values spread over places, and the way leads to where they grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import max_pool2d

from nrm.agents.actions import DiscreteActions
from nrm.agents.networks import NetworkConfig, Sight, resolved
from nrm.agents.networks.egocentric import PlanningNetwork
from nrm.agents.networks.layers import CHANNELS, FILTERS, spread
from nrm.errors import ConfigError
from nrm.observations import ObservationSpec
from nrm.runs import choose_run


def slowly(goal: Tensor, opened: Tensor, rounds: int) -> Tensor:
    """The same, one place after the other; (rows, columns)."""
    value = [[goal[row, column] for column in range(goal.shape[1])] for row in range(goal.shape[0])]
    for _ in range(rounds):
        before = [list(line) for line in value]
        for row, line in enumerate(value):
            for column in range(len(line)):
                near = [
                    before[row + down][column + right]
                    for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))
                    if 0 <= row + down < len(value) and 0 <= column + right < len(line)
                ]
                line[column] = torch.stack([goal[row, column], *(opened[row, column] * one for one in near)]).max()
    return torch.stack([torch.stack(line) for line in value])


def test_values_go_around_what_is_closed() -> None:
    goal = torch.zeros(3, 3, 1)
    goal[0, 2] = 1.0
    opened = torch.full((3, 3, 1), 0.5)
    opened[0, 1] = opened[1, 1] = 0.0
    expected = [[2.0**-6, 0.0, 1.0], [2.0**-5, 0.0, 0.5], [2.0**-4, 0.125, 0.25]]
    assert spread(goal, opened, 8)[:, :, 0].tolist() == expected
    assert spread(goal, opened, 3)[:, :, 0].tolist()[2] == [0.0, 0.125, 0.25]  # rounds are how far it spreads


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_values_and_gradients_are_those_of_the_rounds(seed: int, rows: int, columns: int) -> None:
    drawn = np.random.default_rng(seed)
    size, rounds = (rows, columns, 2), rows * columns  # enough for every way
    goal, opened = (torch.tensor(drawn.random(size), requires_grad=True) for _ in range(2))
    weights = torch.tensor(drawn.normal(size=size))
    fast = spread(goal, opened, rounds)
    slow = torch.stack([slowly(goal[..., one], opened[..., one], rounds) for one in range(2)], -1)
    torch.testing.assert_close(fast, slow)
    found = torch.autograd.grad((fast * weights).sum(), (goal, opened))
    torch.testing.assert_close(found, torch.autograd.grad((slow * weights).sum(), (goal, opened)))


def network(side: int = 32, memory: int = 5) -> PlanningNetwork:
    torch.manual_seed(0)
    return PlanningNetwork(Sight(ObservationSpec((side, side, 3), torch.float32), None), memory, DiscreteActions(4))


def test_plans_are_values_of_what_the_memory_wants() -> None:
    net = network()  # 4x4 places
    maps, memory = torch.randn(3, CHANNELS, 16), torch.randn(3, 5)
    found = net.sought(maps, memory)
    assert found.shape == (3, FILTERS + 4, 16)
    wanted = found[:, :FILTERS]
    scores = net.ways(wanted.transpose(1, 2)).transpose(1, 2).view(3, 2 * 4, 4, 4)
    goal, opened = (scores[:, :4] - 2.0).sigmoid(), 0.9 * (2.0 - scores[:, 4:]).sigmoid()
    value = goal
    for _ in range(6):
        near = torch.maximum(max_pool2d(value, (3, 1), 1, (1, 0)), max_pool2d(value, (1, 3), 1, (0, 1)))
        value = torch.maximum(goal, opened * near)
    torch.testing.assert_close(found[:, FILTERS:], 4.0 * value.flatten(2))


def test_all_of_it_learns() -> None:
    net = network()
    images = torch.randint(0, 256, (6, 32, 32, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    scores, values = net(net.encoder(images), torch.randn(6, 5))
    (scores.square().sum() + values.square().sum()).backward()
    for layer in (net.ways, net.filters):
        assert layer.weight.grad is not None
        assert float(layer.weight.grad.abs().sum()) > 0


def test_vectors_are_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"--network\.encoder auto"):
        PlanningNetwork(Sight(ObservationSpec((4,), torch.float32), None), 5, DiscreteActions(4))


def test_many_tasks_from_images_without_end_are_planned() -> None:
    small: dict[str, Any] = {"env": {"size": 3, "items": ("gem", "lava")}, "tasks": {"count": 2}}
    run = choose_run(None, "image-episode", "rm", tasks="reach", total_timesteps=64, settings=small)
    assert resolved(run.build_env(1), NetworkConfig()).encoder == "planning"
    assert isinstance(run.build_trainer().learner.policy, PlanningNetwork)
    one = choose_run("F gem", "image-episode", "rm", total_timesteps=64, settings={"env": small["env"]})
    assert resolved(one.build_env(1), NetworkConfig(), "egocentric").encoder == "egocentric"
