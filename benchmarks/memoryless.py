"""What policies earn on a grid that remember nothing, computed exactly: lines to hold every memory against.

*Blind*: a fixed distribution over actions. *Memoryless*: a policy that sees its cell. Expected returns are sums over
all cells, states of the machine and steps of an episode; nothing is sampled. As potentials can be counted from the
lowest, the return is a polynomial of the policy with non-negative coefficients, which the growth transform of Baum
and Eagon never lowers: each probability times its derivative, scaled to sum to one. It finds the best near each of
some starts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import FloatArray
from nrm.envs.batched import BatchedTasks
from nrm.envs.grids import next_cells
from nrm.envs.minecraft.env import MinecraftConfig
from nrm.envs.task_runner import End, ending_states
from nrm.machines import MooreMachine


@dataclass(frozen=True, eq=False)
class Walk:
    """A task on a grid as a chain over pairs of a cell and a state of the machine."""

    reached: NDArray[np.int64]
    """(cells * states, actions) the pair that each action leads to; pairs where an episode is over stay."""
    levels: FloatArray
    """(cells * states,) the potential of each pair, from 0 at the beginning."""
    start: int
    steps: int
    states: int
    slip: float

    @classmethod
    def of(cls, machine: MooreMachine, env: MinecraftConfig, end: End = "outcome") -> Walk:
        """The chain of a task in an environment whose items and start are fixed."""
        assert env.start_cell is not None
        assert env.steps is not None
        moves, over = next_cells(*env.shape), ending_states(machine, end)
        letter = BatchedTasks(env, machine, 1, end).probe(env.cells).letters.numpy()[moves]
        states = np.arange(machine.states)
        to = np.array(
            [
                [[machine.next_state(state, int(one)) for one in row] for state in range(machine.states)]
                for row in letter
            ]
        )
        after = moves[:, None, :] * machine.states + to
        here = (np.arange(env.cells)[:, None] * machine.states + states)[:, :, None]
        reached = np.where(over[None, :, None], here, after)
        levels = np.tile(machine.outputs - machine.outputs[machine.initial], env.cells)
        start = env.number(env.start_cell) * machine.states + machine.initial
        return cls(reached.reshape(-1, moves.shape[1]), levels, start, env.steps, machine.states, env.slip)

    def expected_return(self, policies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n,) of policies (n, cells, actions), and the derivatives (n, cells, actions), potentials from the lowest."""
        count, cells, actions = policies.shape
        pairs = len(self.levels)
        mixed = (1 - self.slip) * policies + self.slip / actions
        chosen = np.repeat(mixed, self.states, 1)
        places = (self.reached + pairs * np.arange(count)[:, None, None]).ravel()
        shares = np.zeros((self.steps + 1, count, pairs))
        shares[0, :, self.start] = 1.0
        for step in range(self.steps):
            flow = (shares[step][:, :, None] * chosen).ravel()
            shares[step + 1] = np.bincount(places, flow, minlength=count * pairs).reshape(count, pairs)
        lowest = float(self.levels.min())
        worth = np.broadcast_to(self.levels - lowest, (count, pairs))
        slopes = np.zeros((count, pairs, actions))
        for step in range(self.steps - 1, -1, -1):
            following = worth[:, self.reached]
            slopes += shares[step][:, :, None] * following
            worth = (chosen * following).sum(2)
        slopes = (1 - self.slip) * slopes.reshape(count, cells, self.states, actions).sum(2)
        return worth[:, self.start] + lowest, slopes


def best_policy(walk: Walk, sees: bool, starts: int | None = None, iterations: int = 300) -> float:
    """The largest expected return that is found, of a policy that sees its cell or nothing."""
    generator = np.random.default_rng(0)
    starts = starts or (4 if sees else 16)  # those that see nothing are small
    cells, actions = len(walk.levels) // walk.states, walk.reached.shape[1]
    policies = generator.dirichlet(np.ones(actions), (starts, cells if sees else 1))
    best, since, most = -np.inf, 0, float(walk.levels.max())
    slight = 2e-5 * (most - float(walk.levels.min()) or 1.0)  # a gain that is none
    for _ in range(iterations):
        earned, slopes = walk.expected_return(np.broadcast_to(policies, (starts, cells, actions)))
        since = 0 if earned.max() > best + slight else since + 1
        best = max(best, float(earned.max()))
        if since > 30 or best >= most - slight:
            break
        if not sees:
            slopes = slopes.sum(1, keepdims=True)
        scaled = slopes / np.maximum(slopes.max(2, keepdims=True), 1e-300)
        # A power above one comes there sooner, and is rarely worse.
        grown = policies * np.maximum(scaled, 1e-12) ** 3
        # Cells that are never come to have no slopes and stay as they are.
        policies = np.where(slopes.max(2, keepdims=True) > 0, grown / grown.sum(2, keepdims=True), policies)
    return best
