"""The last layer of a grounder in closed form."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

import nrm
from nrm.neural import CnnGrounder, MlpGrounder, NeuralRewardMachine
from nrm.neural.em.steps import finish
from nrm.neural.grounders import Grounder

MACHINE = nrm.compile("F a & F b", "a b c")
CROSS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def model(grounder: Grounder) -> NeuralRewardMachine:
    torch.manual_seed(0)
    for module in grounder.modules():
        if isinstance(module, nn.Linear):
            module.reset_parameters()
    return NeuralRewardMachine(grounder, MACHINE).eval()


@pytest.mark.parametrize("rows", [4, 40])
def test_a_layer_that_reads_enough_says_what_is_wanted(rows: int) -> None:
    # The first layer spreads out four corners, so that whatever is wanted of them is linear in it.
    grounder = MlpGrounder(2, 3, hidden=(8,))
    made = model(grounder)
    with torch.no_grad():
        grounder.layers[0].weight.mul_(4)  # type: ignore[operator]
    observations = CROSS.repeat(rows // 4, 1)
    letters = torch.tensor([0, 1, 1, 2]).repeat(rows // 4)
    wanted = torch.eye(3)[letters]
    first = copy.deepcopy(grounder.layers[0].state_dict())
    assert finish(made, observations, wanted)
    said = made.said(observations)
    assert said.gather(1, letters[:, None]).min() > 0.99
    assert all(torch.equal(grounder.layers[0].state_dict()[name], first[name]) for name in first)


def test_probabilities_between_are_kept() -> None:
    grounder = MlpGrounder(2, 3, hidden=(8,))
    made = model(grounder)
    with torch.no_grad():
        grounder.layers[0].weight.mul_(4)  # type: ignore[operator]
    wanted = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3]])
    assert finish(made, CROSS, wanted)
    torch.testing.assert_close(made.said(CROSS), wanted, rtol=0, atol=0.05)


def test_what_is_not_linear_in_what_is_read_changes_nothing() -> None:
    made = model(MlpGrounder(2, 3, hidden=()))  # exclusive or is not linear in two numbers
    before = copy.deepcopy(made.state_dict())
    assert not finish(made, CROSS, torch.eye(3)[torch.tensor([0, 1, 1, 0])])
    assert all(torch.equal(value, before[name]) for name, value in made.state_dict().items())


def test_a_network_that_ends_otherwise_is_left_alone() -> None:
    class Hot(MlpGrounder):
        def probabilities(self, scores: Tensor) -> Tensor:
            return torch.softmax(2 * scores, -1)

    made = model(Hot(2, 3, hidden=(8,)))
    before = copy.deepcopy(made.state_dict())
    assert not finish(made, CROSS, torch.eye(3)[torch.tensor([0, 1, 1, 2])])
    assert all(torch.equal(value, before[name]) for name, value in made.state_dict().items())


def test_independent_propositions_and_images() -> None:
    machine = nrm.compile("F a & F b", nrm.Alphabet.propositional(["a", "b"]))
    grounder = MlpGrounder(2, 2, hidden=(8,), independent=True)
    made = model(grounder)
    made = NeuralRewardMachine(grounder, machine, emission="independent").eval()
    with torch.no_grad():
        grounder.layers[0].weight.mul_(4)  # type: ignore[operator]
    wanted = torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    assert finish(made, CROSS, wanted)
    torch.testing.assert_close(made.said(CROSS), wanted, rtol=0, atol=0.02)
    images = (torch.rand(4, 8, 8, 3, generator=torch.Generator().manual_seed(0)) * 255).to(torch.uint8)
    seen = model(CnnGrounder(3, (8, 8, 3)))
    assert finish(seen, images, torch.eye(3)[torch.tensor([0, 1, 1, 2])])
    assert seen.said(images).argmax(-1).tolist() == [0, 1, 1, 2]
