"""Small decision processes with labels, solved exactly together with a machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
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


def deterministic(mdp: SmallMDP) -> SmallMDP:
    """Each action leads where it most probably did."""
    return SmallMDP(np.eye(len(mdp.letters))[mdp.moves.argmax(2)], mdp.letters)


class SmallEnv(gymnasium.Env[Any, Any]):
    """A decision process for Gymnasium: observations are places, `labels` what is read there."""

    def __init__(self, mdp: SmallMDP, alphabet: nrm.Alphabet) -> None:
        self.mdp, self.alphabet = mdp, alphabet
        places, actions, _ = mdp.moves.shape
        self.observation_space, self.action_space = spaces.Discrete(places), spaces.Discrete(actions)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place = int(self.np_random.integers(len(self.mdp.letters)))
        return self.place, self._info()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        chances = self.mdp.moves[self.place, action]
        self.place = int(self.np_random.choice(len(chances), p=chances))
        return self.place, 0.0, False, False, self._info()

    def _info(self) -> dict[str, Any]:
        return {"labels": self.alphabet.true_symbols(int(self.mdp.letters[self.place]))}
