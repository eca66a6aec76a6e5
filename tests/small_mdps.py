"""Small decision processes with labels, solved exactly together with a machine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import nrm
from nrm.machines import MooreMachine, shaped


class SmallMDP(NamedTuple):
    """Places, in which actions move by chance; entering a place is read as its letter."""

    moves: NDArray[np.float64]
    """(places, actions, places) probabilities."""
    letters: NDArray[np.int64]
    """(places,)"""


def sampled_mdp(seed: int, letters: int, places: int = 5, actions: int = 3) -> SmallMDP:
    generator = np.random.default_rng(seed)
    moves = generator.dirichlet(np.full(places, 0.3), (places, actions))
    return SmallMDP(moves, generator.integers(letters, size=places))


def values(
    mdp: SmallMDP, machine: MooreMachine, gamma: float, pay: NDArray[np.float64], sweeps: int = 250
) -> NDArray[np.float64]:
    """(places, states, actions) optimal action values; pay: (states, states) of a step between states of the machine.

    Episodes end where the task is decided.
    """
    ends = machine.accepting | machine.dead
    states = np.arange(machine.states)
    after = machine.transitions[:, mdp.letters]  # (states, places entered)
    gain = pay[states[:, None], after]
    best = np.zeros((len(mdp.letters), machine.states))
    for _ in range(sweeps):
        worth = gain + gamma * np.where(ends[after], 0.0, best[np.arange(len(mdp.letters)), after])
        found: NDArray[np.float64] = np.einsum("xay,uy->xua", mdp.moves, worth)
        best = found.max(2)
    return found


def paid_at_the_end(machine: MooreMachine) -> NDArray[np.float64]:
    """(states, states) the last potential, at the step that ends an episode."""
    ends = machine.accepting | machine.dead
    return np.where(ends, machine.outputs, 0.0)[None].repeat(machine.states, 0)


def paid_shaped(machine: MooreMachine, gamma: float) -> NDArray[np.float64]:
    return np.asarray(shaped(machine.outputs[:, None], machine.outputs[None], gamma))


TASKS = ("F a & F b", "F(a & F b) & G !c", "F a & G !c", "!b U a")


def machine_of(task: str, scheme: str = "distance") -> MooreMachine:
    return nrm.compile(task, "a b c d", reward=scheme)
