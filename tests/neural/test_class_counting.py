"""Weighted model counting against the sum over all letters."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from torch import nn

import nrm
from nrm.errors import AlphabetError
from nrm.logic import Formula
from nrm.neural import NeuralRewardMachine
from nrm.neural.emission import ClassCounting, letters_from_propositions
from tests.strategies import formulas

NAMES = ("a", "b", "c", "d")


@settings(max_examples=40, deadline=None)
@given(formulas(atoms=NAMES))
def test_values_and_gradients_equal_the_sum_over_letters(formula: Formula) -> None:
    machine = nrm.compile(formula, propositions=NAMES)
    counting = ClassCounting(machine.letters.function(4), machine.classes)
    given_probs = torch.rand(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    one, two = (given_probs.clone().requires_grad_() for _ in range(2))
    found = counting(one)
    member = nn.functional.one_hot(torch.tensor(machine.letter_class, dtype=torch.int64), machine.classes).double()
    expected = letters_from_propositions(two) @ member
    assert torch.allclose(found, expected)
    assert torch.allclose(found.sum(-1), torch.ones(2, 3, dtype=torch.float64))
    weights = torch.rand(found.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    if machine.classes > 1:  # one class has probability 1, whatever is given
        (gradient,) = torch.autograd.grad((found * weights).sum(), one)
        (twin,) = torch.autograd.grad((expected * weights).sum(), two)
        assert torch.allclose(gradient, twin)


def test_a_machine_over_forty_propositions() -> None:
    hazards = [f"h{number}" for number in range(38)]
    text = f"F(a & X F b) & global_avoidance({', '.join(hazards)})"
    wide = NeuralRewardMachine(nn.Sigmoid(), nrm.compile(text), "independent")
    few = NeuralRewardMachine(nn.Sigmoid(), nrm.compile("F(a & X F b) & G !h0"), "independent")
    logits = torch.randn(2, 5, 40, generator=torch.Generator().manual_seed(0))
    logits[..., 3:] = -40.0  # but for one, no hazard ever holds
    left, right = wide(logits), few(logits[..., :3])
    # Every state has a level of its own, and with it a place that does not depend on how states are numbered.
    assert torch.allclose(left.rewards, right.rewards, atol=1e-6)
    assert left.rewards.shape[-1] == left.states.shape[-1] == 4
    logits.requires_grad_()
    likelihood = wide.log_likelihood(logits, torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 1]])).sum()
    (gradient,) = torch.autograd.grad(likelihood, logits)
    assert torch.isfinite(gradient).all()
    assert (gradient != 0).any()
    with pytest.raises(AlphabetError, match="use emission='independent'"):
        NeuralRewardMachine(nn.Sigmoid(), nrm.compile(text), "categorical")
