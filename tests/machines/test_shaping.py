"""What a discount keeps: shaped and unshaped optima, on decision processes solved exactly."""

from __future__ import annotations

import numpy as np
import pytest

import nrm
from nrm.errors import NrmError, RewardError
from nrm.machines import levels, shaped
from tests.small_mdps import TASKS, SmallMDP, machine_of, paid_at_the_end, paid_shaped, sampled_mdp, values

SCHEMES = ("distance", "distance:failure=-5", "three_value", "acceptance", "distinct", "value_iteration")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("task", TASKS)
def test_shaped_and_unshaped_optima_coincide(task: str, scheme: str) -> None:
    machine, gamma = machine_of(task, scheme), 0.9
    live = ~(machine.accepting | machine.dead)
    for seed in range(5):
        mdp = sampled_mdp(seed, machine.alphabet.size)
        plain = values(mdp, machine, gamma, paid_at_the_end(machine))
        found = values(mdp, machine, gamma, paid_shaped(machine, gamma))
        assert found[:, live] == pytest.approx((gamma * plain - machine.outputs[None, :, None])[:, live], abs=1e-6)


def test_differences_without_a_discount_can_change_the_optimum_of_a_discounted_agent() -> None:
    # `b` ends the task; `a` leads to a state of a high potential, and is on a longer way to `b`.
    alphabet, ends = nrm.Alphabet.exclusive("abn"), [False, False, True]
    machine = nrm.MooreMachine.from_table(alphabet, [[1, 2, 0], [1, 2, 1], [2, 2, 2]], ends, [0.0, 90.0, 100.0])
    # From place 0, action 0 leads to `b` by way of `a` in four steps, action 1 without it in three.
    moves = np.zeros((5, 2, 5))
    moves[0, 0, 1] = moves[0, 1, 2] = moves[1, :, 2] = moves[2, :, 3] = moves[3, :, 4] = moves[4, :, 4] = 1
    mdp, gamma = SmallMDP(moves, np.array([2, 0, 2, 2, 1])), 0.9
    pays = paid_at_the_end(machine), paid_shaped(machine, gamma), paid_shaped(machine, 1.0)
    assert [values(mdp, machine, gamma, pay)[0, 0].argmax() for pay in pays] == [1, 1, 0]


def test_value_iteration_is_the_fixed_point_of_its_equation() -> None:
    machine = nrm.compile("F(a & F b) & G !c", "a b c d")
    value = np.zeros(machine.states)
    for _ in range(100):
        value = np.where(
            machine.dead, -7.0, np.where(machine.accepting, 100.0, 0.8 * value[machine.transitions].max(1))
        )
    assert levels(machine, "value_iteration:gamma=0.8,failure=-7") == pytest.approx(value)


def test_a_failure_costs_what_the_scheme_says() -> None:
    for scheme in ("distance", "three_value", "distinct", "value_iteration"):
        machine = nrm.compile("F a & G !c", "a b c", reward=f"{scheme}:failure=-12")
        assert machine.outputs[machine.dead].tolist() == [-12]
        assert machine.outputs[~machine.dead].min() > -12


@pytest.mark.parametrize(
    "scheme", ["distance:failure=3", "distance:gamma=0.9", "value_iteration:gamma=2", "distance:failure=x", "three:"]
)
def test_bad_parameters(scheme: str) -> None:
    with pytest.raises(RewardError):
        nrm.compile("F a", "a b", reward=scheme)


@pytest.mark.parametrize("value", ["nan", "-inf"])
def test_numbers_that_are_none(value: str) -> None:
    with pytest.raises(NrmError):
        nrm.compile("F a & G !c", "a b c", reward=f"distance:failure={value}")


def test_what_a_step_pays() -> None:
    assert shaped(50.0, 100.0, 0.9) == pytest.approx(40)
    assert shaped(50.0, 100.0) == 50
