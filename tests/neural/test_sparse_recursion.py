"""The recursion along known moves says what matrices say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm.neural import NeuralRewardMachine
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.grounders import TrueLabels
from nrm.neural.moore import MANY_STATES, ProbabilisticMoore
from nrm.neural.recursion import DenseChain, SparseChain


def random_machine(states: int, letters: int, seed: int) -> nrm.MooreMachine:
    """Any moves and few potentials, so that some episodes are impossible."""
    random = np.random.default_rng(seed)
    alphabet = nrm.Alphabet.exclusive([f"s{number}" for number in range(letters)])
    outputs = random.integers(0, 3, states).astype(float)
    return nrm.MooreMachine.from_table(alphabet, random.integers(0, states, (states, letters)), outputs > 1, outputs)


def random_batch(machine: ProbabilisticMoore, episodes: int, time: int, seed: int) -> tuple[EpisodeBatch, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    seen = torch.randint(5, (episodes, time), generator=generator)
    levels = torch.randint(len(machine.levels), (episodes, time), generator=generator)
    lengths = torch.randint(1, time + 1, (episodes,), generator=generator)
    letters = torch.softmax(torch.randn(5, machine.alphabet.size, generator=generator, dtype=torch.float64), -1)
    return EpisodeBatch(torch.zeros(5, 1), seen, levels, lengths, -torch.ones_like(lengths)), letters.requires_grad_()


@given(st.integers(MANY_STATES, 40), st.integers(1, 12), st.booleans(), st.integers(0, 10**6))
def test_beliefs_likelihoods_and_gradients_are_those_of_matrices(
    states: int, time: int, observed: bool, seed: int
) -> None:
    machine = ProbabilisticMoore.from_machine(random_machine(states, 3, seed), dtype=torch.float64)
    batch, letters = random_batch(machine, 4, time, seed)
    given = letters, batch.seen, batch, observed
    chains = [machine.chain(*given), DenseChain(machine._matrices(*given))]
    assert [type(chain) for chain in chains] == [SparseChain, DenseChain]
    start = machine.starts(batch)
    for one, two in zip(*(chain.filtered(start) for chain in chains), strict=True):
        torch.testing.assert_close(one, two)
    torch.testing.assert_close(*(chain.propagate(start) for chain in chains))
    (sparse, steps), (dense, same) = (chain.log_likelihood(start) for chain in chains)
    torch.testing.assert_close(sparse, dense)
    torch.testing.assert_close(steps, same)
    # An impossible episode teaches nothing either way.
    torch.testing.assert_close(*(torch.autograd.grad(total.sum(), letters)[0] for total in (sparse, dense)))


@pytest.mark.parametrize(("states", "episodes"), [(192, 360), (2000, 20)])
def test_large_known_machines_fit_into_memory(states: int, episodes: int) -> None:
    # A ring: matrices for these steps would take 2.6 and 16 GB.
    ring = np.stack([np.arange(states), (np.arange(states) + 1) % states], axis=1)
    outputs = np.arange(states, dtype=float)
    machine = nrm.MooreMachine.from_table(nrm.Alphabet.exclusive(("a", "b")), ring, outputs == 0, outputs)
    model = NeuralRewardMachine(TrueLabels(2), machine)
    steps = torch.randint(2, (episodes, 50), generator=torch.Generator().manual_seed(0))
    assert float(model.log_likelihood(steps, steps.cumsum(1) % states).detach().abs().max()) == 0.0
    assert int(model(steps).states[0, -1].argmax()) == int(steps[0].sum()) % states
