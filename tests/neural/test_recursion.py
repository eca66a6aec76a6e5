"""The recursion: it and slow twins agree; nothing under- or overflows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from nrm.neural import recursion

LENGTHS = (1, 2, 3, 10, 37)


def chain(time: int, batch: int, states: int, seed: int = 0, stochastic: bool = False) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    matrices = torch.rand(time, batch, states, states, generator=generator, dtype=torch.float64)
    if stochastic:
        matrices = matrices / matrices.sum(-1, keepdim=True)
    start = torch.rand(batch, states, generator=generator, dtype=torch.float64)
    return matrices.requires_grad_(), (start / start.sum(-1, keepdim=True)).requires_grad_()


def slow_log_likelihood(matrices: Tensor, start: Tensor) -> Tensor:
    rows = start
    for matrix in matrices:
        rows = torch.einsum("bi,bij->bj", rows, matrix)
    return rows.sum(-1).log()


@pytest.mark.parametrize("time", LENGTHS)
def test_likelihood_and_its_gradient_equal_the_slow_twin(time: int) -> None:
    matrices, start = chain(time, 3, 4)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    expected = slow_log_likelihood(matrices, start)
    total, steps = recursion.DenseChain(matrices).log_likelihood(start)
    torch.testing.assert_close(total, expected)
    torch.testing.assert_close(steps.log().sum(0), expected.detach())
    wanted = torch.autograd.grad((expected * weights).sum(), (matrices, start))
    found = torch.autograd.grad((total * weights).sum(), (matrices, start))
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("time", LENGTHS)
def test_propagation_and_its_gradient_equal_the_slow_twin(time: int) -> None:
    matrices, start = chain(time, 3, 4, stochastic=True)
    weights = torch.rand(time, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    rows = [start]
    for matrix in matrices:
        rows.append(torch.einsum("bi,bij->bj", rows[-1], matrix))
    expected = torch.stack(rows[1:])
    beliefs = recursion.DenseChain(matrices).propagate(start)
    torch.testing.assert_close(beliefs, expected)
    wanted = torch.autograd.grad((expected * weights).sum(), (matrices, start))
    found = torch.autograd.grad((beliefs * weights).sum(), (matrices, start))
    torch.testing.assert_close(found, wanted)


def test_gradcheck() -> None:
    matrices, start = chain(7, 2, 3)
    assert torch.autograd.gradcheck(lambda m, s: recursion.DenseChain(m).log_likelihood(s)[0], (matrices, start))
    assert torch.autograd.gradcheck(lambda m, s: recursion.DenseChain(m).propagate(s), (matrices, start))
    assert torch.autograd.gradcheck(lambda m, s: recursion.DenseChain(m).filtered(s), (matrices, start))


@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 5), st.integers(0, 10**6), st.floats(0, 0.7))
def test_filtering_equals_the_slow_twin_with_impossible_steps_too(
    time: int, batch: int, states: int, seed: int, gaps: float
) -> None:
    matrices, start = chain(time, batch, states, seed)
    holes = torch.rand(matrices.shape, generator=torch.Generator().manual_seed(seed)) >= gaps
    with torch.no_grad():
        matrices = matrices * holes
    row, beliefs, likelihoods = start.detach(), [], []
    for matrix in matrices:
        after = torch.einsum("bi,bij->bj", row, matrix)
        likelihoods.append(after.sum(-1))
        row = torch.where(likelihoods[-1][:, None] > 0, after / likelihoods[-1][:, None], 0.0)
        beliefs.append(row)
    torch.testing.assert_close(
        recursion.DenseChain(matrices).filtered(start), (torch.stack(beliefs), torch.stack(likelihoods))
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ten_thousand_steps_stay_finite_and_exact(dtype: torch.dtype) -> None:
    # Each step keeps a state with 0.3 or moves on with 0.1: the likelihood of the whole is about e^-9000.
    matrix = torch.tensor([[0.3, 0.1], [0.1, 0.3]], dtype=dtype)
    matrices = matrix.expand(10_000, 1, 2, 2).clone().requires_grad_()
    start = torch.tensor([[1.0, 0.0]], dtype=dtype)
    total, _ = recursion.DenseChain(matrices).log_likelihood(start)
    assert float(total.detach()) == pytest.approx(
        10_000 * torch.tensor(0.4, dtype=torch.float64).log().item(), rel=1e-5
    )
    (gradient,) = torch.autograd.grad(total.sum(), matrices)
    assert bool(torch.isfinite(gradient).all())
    # The gradient times the entry is the posterior probability of a transition; over a step these sum to 1.
    posterior = (gradient * matrices.detach()).sum((-1, -2))
    torch.testing.assert_close(posterior, torch.ones_like(posterior), rtol=1e-4, atol=1e-4)


def test_a_state_that_explains_the_past_badly_does_not_vanish() -> None:
    # State 1 explains every step a million times better, but the chain is surely in state 0.
    matrix = torch.diag(torch.tensor([1e-6, 1.0]))
    matrices = matrix.expand(400, 1, 2, 2).clone()
    beliefs, likelihoods = recursion.DenseChain(matrices).filtered(torch.tensor([[1.0, 0.0]]))
    torch.testing.assert_close(beliefs, torch.tensor([1.0, 0.0]).expand(400, 1, 2))
    torch.testing.assert_close(likelihoods, torch.full((400, 1), 1e-6))


def test_gradients_are_finite_when_a_chain_is_impossible() -> None:
    matrices = torch.eye(2).expand(5, 2, 2, 2).clone()
    matrices[2, 0] = 0.0
    matrices.requires_grad_()
    total, steps = recursion.DenseChain(matrices).log_likelihood(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    total.sum().backward()  # type: ignore[no-untyped-call]
    assert steps[2:, 0].tolist() == [0.0, 0.0, 0.0]
    assert steps[:, 1].tolist() == [1.0] * 5
    assert matrices.grad is not None
    assert bool(torch.isfinite(total).all())
    assert bool(torch.isfinite(matrices.grad).all())
    assert bool((matrices.grad[:, 0] == 0).all())
