"""A step of Adam on one vector, beside PyTorch's own."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from nrm.agents.actions import categorical
from nrm.agents.algorithms import Descent, finite
from nrm.errors import TrainingError


def test_the_categorical_distribution_by_hand() -> None:
    logits = torch.tensor([[0.0, 0.0], [0.0, 3.0]]).log_softmax(-1)
    chosen, entropy = categorical(logits, torch.tensor([1, 0]))
    assert chosen.exp().tolist() == pytest.approx([0.5, 1 / (1 + torch.tensor(3.0).exp().item())])
    assert entropy[0].item() == pytest.approx(torch.tensor(2.0).log().item())


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


def test_a_loss_that_is_not_finite_is_told_with_its_parts() -> None:
    assert finite({"actor": torch.tensor(1.0), "critic": torch.tensor(2.0)}, 0.1) == {"actor": 1.0, "critic": 2.0}
    with pytest.raises(TrainingError, match=r"actor nan, critic 2.*learning_rate.*0\.1"):
        finite({"actor": torch.tensor(float("nan")), "critic": torch.tensor(2.0)}, 0.1)
