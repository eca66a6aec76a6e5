"""What is possible in FlatWorld: the least steps in which a task can be satisfied from a place.

Breadth-first search backwards over a grid of places and the states of the task's machine. The grid has seven points for
a step along an axis and five for one along a diagonal (seven by the square root of two is 4.95). Plans take the eight
directions of discrete actions; continuous actions can do all of that, and cut corners.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nrm.envs.plane import PlaneConfig
from nrm.envs.plane.env import PlaneDynamics, Points
from nrm.machines import MooreMachine

ALONG, ACROSS = 7, 5
"""Points of the grid in a step along an axis, and along each axis in a diagonal one."""
MOVES = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]

Cells = NDArray[np.bool_]


def least_steps(config: PlaneConfig, machine: MooreMachine, places: Points) -> NDArray[np.int64]:
    """(n,) the least steps to acceptance from places (n, 2) where an episode begins; -1 where there is no plan.

    The first place is not read by the machine, as in the environment.
    """
    low, apart = np.array(config.bounds[:2]), config.step / ALONG
    rows = np.rint((places - low) / apart).astype(np.int64)
    found = np.full(len(places), -1)
    for steps, begun in enumerate(_won_within(config, machine), 1):
        now = begun[rows[:, 0], rows[:, 1]]
        found = np.where((found < 0) & now, steps, found)
    return found


def _won_within(config: PlaneConfig, machine: MooreMachine) -> Iterator[Cells]:
    """(columns, rows) from where the task can be satisfied in one step, in two and so on, up to the step limit."""
    letters = _letters(config, machine)
    won = np.broadcast_to(machine.accepting[:, None, None], (machine.states, *letters.shape)).copy()
    following = [machine.transitions[state][letters] for state in range(machine.states)]
    across, up = np.indices(letters.shape)
    assert config.steps is not None
    for _ in range(config.steps):
        entered = np.stack([won[state, across, up] for state in following])
        wider = won | _reached(entered)
        yield wider[machine.initial]
        if (wider == won).all():
            return
        won = wider


def _letters(config: PlaneConfig, machine: MooreMachine) -> NDArray[np.int64]:
    """(columns, rows) the letter that is read at each point of the grid."""
    left, bottom, right, top = config.bounds
    apart = config.step / ALONG
    axes = [low + apart * np.arange(round((high - low) / apart) + 1) for low, high in ((left, right), (bottom, top))]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    letters = PlaneDynamics(config).reader(machine.alphabet)({"place": points.astype(np.float32)})
    return letters.reshape(len(axes[0]), len(axes[1]))


def _reached(entered: Cells) -> Cells:
    """(states, columns, rows) from where one move leads to a point that is `entered`; moves stay within the bounds."""
    found = np.zeros_like(entered)
    for x, y in MOVES:
        length = ACROSS if x and y else ALONG
        here, there = _overlap(x * length), _overlap(-x * length)
        below, above = _overlap(y * length), _overlap(-y * length)
        found[:, there, above] |= entered[:, here, below]
    return found


def _overlap(shift: int) -> slice:
    return slice(max(0, shift), None) if shift >= 0 else slice(None, shift)
