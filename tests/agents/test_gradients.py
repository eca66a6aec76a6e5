"""Gradients that are written out, and a step of Adam on one vector, beside PyTorch's own."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from nrm.agents.actions import categorical
from nrm.agents.algorithms import Descent, finite
from nrm.agents.networks.paper import twin_hidden
from nrm.errors import TrainingError


def test_the_categorical_distribution_by_hand() -> None:
    logits = torch.tensor([[0.0, 0.0], [0.0, 3.0]]).log_softmax(-1)
    chosen, entropy = categorical(logits, torch.tensor([1, 0]))
    assert chosen.exp().tolist() == pytest.approx([0.5, 1 / (1 + torch.tensor(3.0).exp().item())])
    assert entropy[0].item() == pytest.approx(torch.tensor(2.0).log().item())


def test_the_categorical_gradient_is_that_of_autograd() -> None:
    logits = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
    actions = torch.randint(5, (3, 4))
    assert torch.autograd.gradcheck(lambda values: categorical(values, actions), logits)


@pytest.mark.parametrize("learned_inputs", [True, False])
def test_the_gradient_of_twin_layers_is_that_of_autograd(learned_inputs: bool) -> None:
    shapes = ((6, 3), (2, 3, 4), (2, 1, 4), (2, 4, 4), (2, 1, 4))
    values = [torch.randn(shape, dtype=torch.float64).requires_grad_() for shape in shapes]
    values[0].requires_grad_(learned_inputs)
    inputs, first, first_bias, second, second_bias = values
    hidden = torch.tanh(inputs @ first + first_bias)
    torch.testing.assert_close(twin_hidden(*values), torch.tanh(hidden @ second + second_bias))
    assert torch.autograd.gradcheck(twin_hidden, tuple(values))


@pytest.mark.parametrize("norm", [None, 0.5, 1e9])
def test_descent_is_adam(norm: float | None) -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    twin = copy.deepcopy(net)
    descent = Descent(list(net.parameters()), 0.01, norm)
    adam = torch.optim.Adam(twin.parameters(), lr=0.01)
    for step in range(30):
        inputs = torch.randn(8, 3)
        if step == 20:  # a new step size, and a beginning from saved moments
            adam.param_groups[0]["lr"] = 0.003
            saved = descent.state_dict()
            descent = Descent(list(net.parameters()), 0.01, norm)
            descent.load_state_dict(saved)
        descent.step(net(inputs).square().sum(), 0.003 if step >= 20 else None)
        adam.zero_grad()
        twin(inputs).square().sum().backward()
        if norm is not None:
            nn.utils.clip_grad_norm_(twin.parameters(), norm)
        adam.step()
    for one, other in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_gradients_of_a_sum_do_as_well_as_the_sum() -> None:
    nets = [nn.Linear(3, 2) for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())
    inputs, weights = torch.randn(5, 3), torch.randn(5, 2)
    by_sum, by_parts = (Descent(list(net.parameters()), 0.1, 0.5) for net in nets)
    by_sum.step((nets[0](inputs) * weights).sum())
    by_parts.step((nets[1](inputs),), gradients=(weights,))
    for one, other in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_a_loss_that_is_not_finite_is_told_with_its_parts() -> None:
    assert finite({"actor": torch.tensor(1.0), "critic": torch.tensor(2.0)}, 0.1) == {"actor": 1.0, "critic": 2.0}
    with pytest.raises(TrainingError, match=r"actor nan, critic 2.*learning_rate \(now 0.1\)"):
        finite({"actor": torch.tensor(float("nan")), "critic": torch.tensor(2.0)}, 0.1)
