"""Heads: distributions over actions with the numbers computed by hand, or by an integral."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor

from nrm.agents.actions import ActionHead, BoxActions, ClippedActions, DiscreteActions, MultiDiscreteActions, head_for
from nrm.errors import EnvError

GENERATOR = torch.Generator().manual_seed(0)


def box(low: list[float], high: list[float]) -> BoxActions:
    return BoxActions(torch.tensor(low), torch.tensor(high))


def clipped(low: list[float], high: list[float]) -> ClippedActions:
    return ClippedActions(torch.tensor(low), torch.tensor(high))


def drawn(head: ActionHead, scores: Tensor, count: int = 40_000) -> Tensor:
    return head.sample(scores.expand(count, -1), head.noise((count,), torch.Generator().manual_seed(1)))


def test_a_categorical_distribution() -> None:
    head = DiscreteActions(3)
    scores = torch.tensor([[1.0, 2.0, 4.0]]).log()  # 1/7, 2/7, 4/7
    log_prob, entropy = head.evaluate(scores, torch.tensor([1]))
    assert float(log_prob) == pytest.approx(math.log(2 / 7))
    assert float(entropy) == pytest.approx(-sum(share * math.log(share) for share in (1 / 7, 2 / 7, 4 / 7)))
    assert head.best(scores).tolist() == [2]
    shares = torch.bincount(drawn(head, scores)) / 40_000
    assert shares.tolist() == pytest.approx([1 / 7, 2 / 7, 4 / 7], abs=0.01)


def test_several_choices_are_independent_categorical_ones() -> None:
    head = MultiDiscreteActions([2, 3])
    scores = torch.tensor([[1.0, 3.0, 1.0, 2.0, 5.0]]).log()  # 1/4, 3/4 and 1/8, 2/8, 5/8
    log_prob, entropy = head.evaluate(scores, torch.tensor([[1, 0]]))
    assert float(log_prob) == pytest.approx(math.log(3 / 4) + math.log(1 / 8))
    shares = ((1 / 4, 3 / 4), (1 / 8, 2 / 8, 5 / 8))
    assert float(entropy) == pytest.approx(-sum(one * math.log(one) for part in shares for one in part))
    assert head.best(scores).tolist() == [[1, 2]]
    sample = drawn(head, scores)
    joint = torch.zeros(2, 3).index_put_(tuple(sample.t()), torch.tensor(1 / 40_000), accumulate=True)
    expected = torch.tensor(shares[0])[:, None] * torch.tensor(shares[1])
    torch.testing.assert_close(joint, expected, rtol=0, atol=0.01)


def test_the_density_of_a_squashed_gaussian_by_hand() -> None:
    head = box([-1.0], [3.0])
    # Mean 0.3, standard deviation e^-0.5, squashed to the middle 1 plus or minus 2. Of the action 2, tanh is 0.5.
    raw = math.atanh(0.5)
    standard = (raw - 0.3) / math.exp(-0.5)
    gaussian = math.exp(-(standard**2) / 2) / (math.exp(-0.5) * math.sqrt(2 * math.pi))
    log_prob, _ = head.evaluate(torch.tensor([[0.3, -0.5]]), torch.tensor([[2.0]]))
    assert float(log_prob) == pytest.approx(math.log(gaussian / (2 * (1 - 0.25))), abs=1e-5)


@pytest.mark.parametrize(("mean", "log_std"), [(0.0, 0.0), (0.7, -1.0), (-1.5, 0.5), (0.2, -3.0)])
def test_densities_add_up_to_one_and_entropy_is_their_integral(mean: float, log_std: float) -> None:
    head = box([-2.0], [1.0])
    # Even steps before squashing, where nothing is steep; the step between actions is the width there.
    edges = torch.linspace(mean - 8 * math.exp(log_std), mean + 8 * math.exp(log_std), 20_001, dtype=torch.float64)
    squashed = -0.5 + 1.5 * edges.tanh()
    centres = -0.5 + 1.5 * ((edges[1:] + edges[:-1]) / 2).tanh()
    widths = squashed.diff()
    usable = (centres + 0.5).abs() < 1.5 * (1 - 1e-5)
    scores = torch.tensor([mean, log_std], dtype=torch.float64).expand(len(centres), 2)
    log_prob, entropy = head.evaluate(scores.float(), centres[:, None].float())
    weights = (log_prob.double().exp() * widths)[usable]
    assert float(weights.sum()) == pytest.approx(1.0, abs=5e-3)
    assert float(entropy[0]) == pytest.approx(float(-(weights * log_prob.double()[usable]).sum()), abs=0.02)


def test_the_density_of_a_clipped_gaussian_by_hand() -> None:
    head = clipped([-1.0], [3.0])
    # Mean 0.3, standard deviation e^-0.5, in units of 2 around 1. The action 2 is 0.5 of them.
    standard = (0.5 - 0.3) / math.exp(-0.5)
    gaussian = math.exp(-(standard**2) / 2) / (math.exp(-0.5) * math.sqrt(2 * math.pi))
    log_prob, entropy = head.evaluate(torch.tensor([[0.3, -0.5]]), torch.tensor([[2.0]]))
    assert float(log_prob) == pytest.approx(math.log(gaussian / 2), abs=1e-5)
    assert float(entropy) == pytest.approx(0.5 * math.log(2 * math.pi * math.e) - 0.5)


@pytest.mark.parametrize(("mean", "log_std"), [(0.0, 0.0), (0.7, -1.0), (-1.5, 0.5), (0.2, -3.0)])
def test_densities_between_bounds_and_probabilities_at_them_add_up_to_one(mean: float, log_std: float) -> None:
    head = clipped([-2.0], [1.0])
    edges = torch.linspace(-2.0, 1.0, 20_001)
    centres = ((edges[1:] + edges[:-1]) / 2)[:, None]
    scores = torch.tensor([mean, log_std])
    between = head.evaluate(scores.expand(len(centres), 2), centres)[0].double().exp().sum() * 3.0 / 20_000
    at = head.evaluate(scores.expand(2, 2), torch.tensor([[-2.0], [1.0]]))[0].exp()
    assert float(between + at.sum()) == pytest.approx(1.0, abs=1e-3)
    sample = drawn(head, scores[None])
    shares = torch.stack([(sample == -2.0).float().mean(), (sample == 1.0).float().mean()])
    assert at.tolist() == pytest.approx(shares.tolist(), abs=0.01)


def test_several_numbers_add_their_logarithms() -> None:
    head = box([-1.0, 0.0], [1.0, 10.0])
    scores, actions = torch.tensor([[0.1, -0.2, -0.3, 0.4]]), torch.tensor([[0.5, 2.0]])
    found = head.evaluate(scores, actions)
    parts = [
        box([low], [high]).evaluate(scores[:, [place, place + 2]], actions[:, [place]])
        for place, (low, high) in enumerate(((-1.0, 1.0), (0.0, 10.0)))
    ]
    for whole, first, second in zip(found, *parts, strict=True):
        torch.testing.assert_close(whole, first + second)


def test_bounds_are_respected_and_actions_at_them_have_finite_gradients() -> None:
    head = box([-0.1, 5.0], [0.7, 5.5])
    wild = torch.tensor([[0.0, 30.0, 1.0, 1.0]])
    sample = drawn(head, wild, 2000)
    assert bool((sample >= torch.tensor([-0.1, 5.0])).all())
    assert bool((sample <= torch.tensor([0.7, 5.5])).all())
    scores = wild.clone().requires_grad_()
    log_prob, entropy = head.evaluate(scores, torch.tensor([[-0.1, 5.5]]))
    (log_prob.sum() + entropy.sum()).backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert bool(scores.grad.isfinite().all())
    assert head.best(torch.zeros(1, 4)).tolist() == [pytest.approx([0.3, 5.25])]


def test_the_mean_of_minus_the_logarithm_of_samples_is_the_entropy() -> None:
    head = box([-1.0], [1.0])
    scores = torch.tensor([[0.4, -0.7]])
    sample = drawn(head, scores)
    log_prob, entropy = head.evaluate(scores.expand(len(sample), -1), sample)
    assert float(entropy[0]) == pytest.approx(float(-log_prob.mean()), abs=0.02)


def test_a_gaussian_layer_begins_in_the_middle_and_learns_its_spread_by_place() -> None:
    layer = box([-1.0, -1.0], [1.0, 1.0]).layer(6)
    features = torch.randn(5, 6, generator=GENERATOR, requires_grad=True)
    scores = layer(features)
    assert scores.shape == (5, 4)
    assert float(scores.detach().abs().max()) < 0.1
    scores[:, 2:].sum().backward()
    assert features.grad is not None
    assert not features.grad.any()  # features are learned for the means alone
    assert layer.log_std.weight.grad.abs().min() > 0  # type: ignore[union-attr, operator]


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (4, DiscreteActions),
        (spaces.Discrete(4, start=3), DiscreteActions),
        (spaces.MultiDiscrete([2, 3]), MultiDiscreteActions),
        (spaces.MultiBinary(3), MultiDiscreteActions),
        (spaces.Box(-1, 1, (2,)), BoxActions),
    ],
)
def test_every_space_has_its_head(space: Any, kind: type) -> None:
    assert isinstance(head_for(space), kind)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (spaces.Box(-np.inf, np.inf, (2,)), "finite bounds"),
        (spaces.Box(0, 0, (1,)), "finite bounds"),
        (spaces.Box(0, 5, (1,), np.int64), "must be floating.*int64"),
        (spaces.Text(3), "must be Discrete, MultiDiscrete, MultiBinary or Box, not Text"),
    ],
)
def test_spaces_without_a_head_are_named(space: Any, message: str) -> None:
    with pytest.raises(EnvError, match=message):
        head_for(space)
