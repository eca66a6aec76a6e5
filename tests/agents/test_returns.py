"""Advantages with the numbers computed by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nrm.agents.algorithms import advantages


def column(*values: float) -> Tensor:
    """One environment, some steps: (time, 1)."""
    return torch.tensor(values, dtype=torch.float64)[:, None]


NEVER = torch.zeros(3, 1, dtype=torch.bool)


def at(step: int) -> Tensor:
    flags = NEVER.clone()
    flags[step] = True
    return flags


def test_n_step_returns_without_an_end() -> None:
    # Returns: 3 + 0.5 * 8 = 7; 2 + 0.5 * 7 = 5.5; 1 + 0.5 * 5.5 = 3.75. The values 10, 20, 30 are taken off.
    found = advantages(column(1, 2, 3), column(10, 20, 30), column(20, 30, 8), NEVER, NEVER, 0.5)
    assert found.flatten().tolist() == [3.75 - 10, 5.5 - 20, 7 - 30]


def test_a_termination_inside_the_window_ends_the_return() -> None:
    # The episode ends with reward 2 at step 1: nothing is bootstrapped there, and step 2 belongs to the next one.
    found = advantages(column(1, 2, 3), column(10, 20, 30), column(20, 99, 8), at(1), NEVER, 0.5)
    assert found.flatten().tolist() == [1 + 0.5 * 2 - 10, 2 - 20, 7 - 30]


def test_a_truncation_inside_the_window_is_bootstrapped() -> None:
    # The time limit cuts at step 1, where the value of what was reached is 6: 2 + 0.5 * 6 = 5.
    found = advantages(column(1, 2, 3), column(10, 20, 30), column(20, 6, 8), NEVER, at(1), 0.5)
    assert found.flatten().tolist() == [1 + 0.5 * 5 - 10, 5 - 20, 7 - 30]


def test_terminated_and_truncated_at_once_counts_as_terminated() -> None:
    found = advantages(column(1, 2, 3), column(10, 20, 30), column(20, 6, 8), at(1), at(1), 0.5)
    assert found[1].item() == 2 - 20


def test_generalised_advantages() -> None:
    # Deltas: 1 + 0.5 * 20 - 10 = 1; 2 + 0.5 * 30 - 20 = -3; 3 + 0.5 * 8 - 30 = -23; decay 0.5 * 0.8 = 0.4.
    found = advantages(column(1, 2, 3), column(10, 20, 30), column(20, 30, 8), NEVER, NEVER, 0.5, 0.8)
    assert found.flatten().tolist() == pytest.approx([1 + 0.4 * (-3 + 0.4 * -23), -3 + 0.4 * -23, -23])


def test_environments_do_not_mix() -> None:
    rewards = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    none = torch.zeros(2, 2, dtype=torch.bool)
    found = advantages(rewards, torch.zeros(2, 2), torch.zeros(2, 2), none, none, 1.0)
    assert found.tolist() == [[1.0, 2.0], [0.0, 2.0]]
