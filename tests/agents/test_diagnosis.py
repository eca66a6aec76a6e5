"""What is said at the end of a run, from rewards alone."""

from __future__ import annotations

import numpy as np
import pytest

import nrm
from nrm.agents import History, diagnose
from nrm.agents.training import Decided
from nrm.machines import MooreMachine, TaskSet

SYMBOLS = "shop bank pond elsewhere"
ERRAND = nrm.compile("F(shop & F bank) & G !pond", SYMBOLS)


def history(shares: dict[float, float], episodes: int = 1000, length: int = 80) -> History:
    """Episodes whose returns come as often as these shares say, evenly mixed."""
    returns = np.repeat(list(shares), [round(100 * share) for share in shares.values()])
    mixed = np.random.default_rng(0).permutation(returns)
    found = np.tile(mixed, -(-episodes // len(mixed)))[:episodes]
    return History(found.tolist(), [length] * episodes, (found == 100).tolist(), list(range(episodes)))


def advice(shares: dict[float, float], machine: MooreMachine = ERRAND, length: int = 80) -> str:
    return " ".join(diagnose(history(shares, length=length), machine).advice)


def test_shares_of_potentials_are_counted() -> None:
    found = diagnose(history({100: 0.12, 50: 0.61, -100: 0.27}), ERRAND)
    assert found.episodes == 500
    assert [(one.low, one.share) for one in found.endings] == [(100, 0.12), (50, 0.61), (-100, 0.27)]
    assert "100 in 12 %, 50 in 61 %, -100 in 27 %" in found.lines[0]


def test_a_run_that_ended_well_is_told_in_one_line() -> None:
    assert len(diagnose(history({100: 0.99, 50: 0.01}), ERRAND).lines) == 1


def test_an_agent_that_stays_at_the_first_goal_is_to_explore() -> None:
    told = advice({50: 0.98, 0: 0.02})
    assert "past 50" in told
    assert "exploration" in told
    assert "time limit" in told
    assert "failure potential" in told


def test_fear_is_no_reason_where_nothing_can_be_lost_or_much_is() -> None:
    assert "failure" not in advice({50: 1.0}, nrm.compile("F(shop & F bank)", SYMBOLS))
    assert "fear" not in advice({50: 0.8, -100: 0.2})


def test_an_agent_that_mostly_fails_is_to_be_careful() -> None:
    told = advice({100: 0.2, 50: 0.1, -100: 0.7})
    assert "70%" in told
    assert "less exploration" in told


def test_rising_returns_ask_for_more_training() -> None:
    early, late = history({0: 0.9, 100: 0.1}, 500), history({0: 0.5, 100: 0.5}, 500)
    both = History(early.returns + late.returns, early.lengths + late.lengths)
    assert "train longer" in " ".join(diagnose(both, ERRAND).advice)
    assert "train longer" not in advice({0: 0.5, 100: 0.5})


@pytest.mark.parametrize("late", [{0: 1.0}, {0: 0.8, -100: 0.2}, {0: 0.3, -100: 0.7}, {-100: 1.0}])
def test_agents_that_learn_to_stand_still_are_not_to_train_longer(late: dict[float, float]) -> None:
    feared, stands = history({0: 0.1, -100: 0.9}, 500), history(late, 500)
    both = History(feared.returns + stands.returns, feared.lengths + stands.lengths)
    told = " ".join(diagnose(both, ERRAND).advice)
    assert "rise" not in told
    assert "exploration" in told
    assert "failure potential" in told


def test_a_run_whose_last_hundred_episodes_succeed_needs_no_advice() -> None:
    early, late = history({0: 0.9, 100: 0.1}, 900), history({0: 0.03, 100: 0.97}, 100)
    assert diagnose(History(early.returns + late.returns, early.lengths + late.lengths), ERRAND).advice == ()


def test_rewards_that_are_not_explained_point_to_the_grounder() -> None:
    found = history({50: 1.0})
    found.decisions.append(Decided(900, 0.2, 0.6, None, "learn", ""))
    assert "grounder" in diagnose(found, ERRAND).advice[0]


def test_tasks_with_many_potentials_are_put_together() -> None:
    alphabet = nrm.compile("F a", "a b c d e f g h").alphabet
    pool = TaskSet.of((f"visit({', '.join('abcdefg'[:n])}) & G !h" for n in range(1, 8)), alphabet)
    shares = {100.0: 0.5, 0.0: 0.1, -100.0: 0.1, 50.0: 0.05, 25.0: 0.05, 75.0: 0.05, 20.0: 0.05, 40.0: 0.05, 80.0: 0.05}
    found = diagnose(history(shares), pool.union).endings
    assert [(one.low, one.high) for one in found] == [(100, 100), (0, 100), (0, 0), (-100, -100)]
    assert found[1].share == pytest.approx(0.3)
    assert sum(one.share for one in found) == pytest.approx(1)


@pytest.mark.parametrize("episodes", [1, 3, 41, 150])
def test_short_runs_are_told_too(episodes: int) -> None:
    found = diagnose(history({100: 0.3, 0: 0.7}, episodes), ERRAND)
    assert found.episodes <= episodes
    assert ["too few" in one for one in found.advice] == [True]
