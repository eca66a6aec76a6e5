"""Potentials and rewards, with the numbers computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nrm
from nrm.errors import NrmError, RewardError
from nrm.logic import PAPER_SYMBOLS, PAPER_TASKS, Formula
from nrm.machines import levels, with_rewards
from nrm.machines.rewards import SCHEMES, Penalties
from tests.strategies import formulas

HAND_COMPUTED = {
    1: [0, 50, 50, 100],
    2: [0, 100 / 3, 100 / 3, 100 / 3, 200 / 3, 200 / 3, 200 / 3, 100],
    3: [0, 50, 100],
    4: [0, 100 / 3, 100 / 3, 200 / 3, 200 / 3, 100],
    5: [0, 50, 50, -100, 100],
    6: [0, 50, 50, -100, 100],
    7: [0, 50, -100, 100],
    8: [0, 50, -100, 100],
}


@pytest.mark.parametrize("task", PAPER_TASKS, ids=lambda task: task.name)
def test_the_papers_tasks(task: nrm.logic.PaperTask) -> None:
    machine = nrm.compile(task.formula(), PAPER_SYMBOLS)
    assert machine.outputs.tolist() == pytest.approx(HAND_COMPUTED[task.number])


@given(formulas(), st.booleans())
def test_the_distance_potential(formula: Formula, exclusive: bool) -> None:
    machine = nrm.compile(formula, nrm.Alphabet.of_kind(("a", "b"), "exclusive" if exclusive else "propositional"))
    distance = machine.distance_to_acceptance
    assert np.isfinite(machine.outputs).all()
    assert (machine.outputs[machine.accepting] == 100).all()
    assert (machine.outputs[distance < 0] == -100).all()
    live = np.flatnonzero(distance >= 0)
    for p in live:
        assert -100 < machine.outputs[p] <= 100
        for q in live:  # nearer is higher, and equally near is equally high
            assert np.sign(machine.outputs[p] - machine.outputs[q]) == np.sign(distance[q] - distance[p])
    if distance[machine.initial] > 0:  # the best episode earns 100 in all
        assert machine.outputs[machine.initial] == 0


def test_a_task_that_holds_from_the_start_can_only_be_lost() -> None:
    machine = nrm.compile("G !a", "a b")
    assert machine.outputs.tolist() == [100, -100]
    assert machine.run(["b", "a"]).rewards == (0, -200)
    assert nrm.compile("G(a -> F b)", "a b c").outputs.tolist() == [100, 50]


def test_states_farther_than_the_start_stay_above_failure() -> None:
    # From the start one `a` suffices; after a `b`, three more steps are needed.
    machine = nrm.compile("(b -> X X X true) & F a & G(Y b & !Y Y true -> true) & (b | a)", "a b")
    assert machine.distance_to_acceptance.max() > machine.distance_to_acceptance[0] == 1
    live = machine.outputs[~machine.dead]
    assert live.min() < 0
    assert live.min() > -100


def test_a_machine_that_is_lost_from_the_start() -> None:
    table = [[0, 0], [1, 1]]
    machine = nrm.MooreMachine.from_table(nrm.Alphabet.exclusive("ab"), table, [False, True], [0.0, 0.0])
    assert with_rewards(machine, "distance").outputs.tolist() == [-100, 100]
    assert nrm.compile("a & !a", "a b").outputs.tolist() == [-100]


def test_an_accepting_state_need_not_be_absorbing() -> None:
    machine = nrm.compile("F a & F b & G !c", "a b c")
    accepting = machine.accepting & ~machine.absorbing
    assert machine.outputs[accepting].tolist() == [100]


def test_other_schemes() -> None:
    three = nrm.compile("F a & F b & G !c", "a b c", reward="three_value")
    assert three.outputs.tolist() == [0, 0, 0, -100, 100]
    plain = nrm.compile("F a & F b & G !c", "a b c", reward="acceptance")
    assert plain.outputs.tolist() == [0, 0, 0, 0, 1]
    assert nrm.compile("F a", "a b", reward=[1, 2.5]).outputs.tolist() == [1, 2.5]
    assert nrm.compile("F a", "a b", reward={1: 7, 0: 3}).outputs.tolist() == [3, 7]
    assert nrm.compile("F a", "a b", reward=lambda machine: machine.outputs * 2).outputs.tolist() == [0, 2]


def test_distinct_levels_break_ties_between_states_on_the_way_only() -> None:
    machine = nrm.compile("F a & F b & F c", "a b c d", reward="distinct")
    plain = with_rewards(machine, "distance")
    assert len(machine.levels) == machine.states
    assert machine.outputs[0] == 0
    assert machine.outputs[machine.accepting].tolist() == [100]
    # The order by distance stays.
    for p in range(machine.states):
        for q in range(machine.states):
            if plain.outputs[p] > plain.outputs[q]:
                assert machine.outputs[p] > machine.outputs[q]


@given(formulas())
def test_every_scheme_gives_a_finite_level_to_every_state(formula: Formula) -> None:
    machine = nrm.compile(formula, "a b c")
    for scheme in SCHEMES:
        assert np.isfinite(levels(machine, scheme)).all()


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("distnace", "unknown reward scheme 'distnace'; did you mean 'distance'"),
        ([1.0], "1 custom potentials for 2 states"),
        (["x", "y"], "custom potentials must be numbers"),
        (7, "a name, a function or numbers"),
        ({0: 1.0}, "each of the states 0 to 1"),
        ([1.0, float("inf")], "must be finite"),
    ],
)
def test_bad_rewards(reward: object, message: str) -> None:
    with pytest.raises((RewardError, NrmError), match=message):
        nrm.compile("F a", "a b", reward=reward)  # type: ignore[arg-type]


def test_a_failure_costs_little_before_any_success_and_all_of_it_after_many() -> None:
    penalties = Penalties()
    # An episode that fails, one that is set back and goes on, one that succeeds, one that runs out of time.
    reward = np.array([-150.0, -50.0, 100.0, 0.0])
    terminated = np.array([True, False, True, False])
    assert penalties.of(terminated & (reward < 0)).tolist() == pytest.approx([0.01, 1, 1, 1])
    weights = penalties.weights(reward, terminated)
    assert 0.01 < weights[0] < 0.02
    assert weights[1:].tolist() == [1, 1, 1]
    for _ in range(600):
        penalties.weights(reward, terminated)
    assert penalties.success == pytest.approx(1 / 2, abs=0.01)  # running out of time says nothing
    for _ in range(3000):
        penalties.weights(reward[2:3], terminated[2:3])
    assert penalties.of(terminated & (reward < 0)).tolist() == pytest.approx([1, 1, 1, 1], abs=1e-3)
