"""What policies without memory earn, against sums over all ways that an episode can go."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.memoryless import Walk, best_policy

import nrm
from nrm.envs import MinecraftConfig
from nrm.machines import MooreMachine

ENV = MinecraftConfig(size=(3, 2), items=["gem@2,0", "lava@0,1"], steps=4, slip=0.1)


def task(formula: str) -> MooreMachine:
    return nrm.compile(formula, ("gem", "lava", "empty"))


def by_hand(walk: Walk, policy: np.ndarray) -> float:
    """The mean over all sequences of actions."""
    total = 0.0
    for actions in itertools.product(range(4), repeat=walk.steps):
        pair, chance = walk.start, 1.0
        for action in actions:
            chance *= (1 - walk.slip) * policy[pair // walk.states, action] + walk.slip / 4
            pair = int(walk.reached[pair, action])
        total += chance * walk.levels[pair]
    return total


@pytest.mark.parametrize("formula", ["F gem", "F lava & F gem", "F(lava & F gem)"])
def test_returns_and_derivatives_are_those_of_all_ways(formula: str) -> None:
    walk = Walk.of(task(formula), ENV)
    policies = np.random.default_rng(0).dirichlet(np.ones(4), (2, 6))
    earned, slopes = walk.expected_return(policies)
    assert earned == pytest.approx([by_hand(walk, policy) for policy in policies])
    nudge = np.zeros_like(policies)
    nudge[0, 1, 2] = 1e-5
    apart = walk.expected_return(policies + nudge)[0] - walk.expected_return(policies - nudge)[0]
    # The potentials of derivatives count from the lowest, here that of the beginning.
    assert apart[0] / 2e-5 == pytest.approx(slopes[0, 1, 2], rel=1e-4)


def test_the_best_by_hand() -> None:
    # On a row of three cells with the gem at its end, going right is best: 2 steps, no memory needed.
    row = MinecraftConfig(size=(3, 1), items=["gem@2,0", "lava@0,0"], start=(1, 0), steps=3)
    right = Walk.of(task("F gem"), row)
    assert [best_policy(right, sees) for sees in (False, True)] == pytest.approx([100.0, 100.0], abs=0.1)
    # First to one end and then to the other: the middle has to be left in two ways, so without memory it is a draw.
    both = Walk.of(task("F(lava & F gem)"), row)
    assert best_policy(both, True) < 99.0
    assert best_policy(both, False) <= best_policy(both, True) + 0.01
