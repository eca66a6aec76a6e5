"""What an agent remembers of a task, as a pure function on an explicit state, the *carry*.

`start` begins episodes, `read` takes in what a step showed, `reset` begins anew where an episode ended, and `feature`
is what the policy sees (paper, "Comparisons").
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.machines import LevelCodec, MooreMachine
from nrm.neural import NeuralRewardMachine

Belief = Literal["conditioned", "open"]
"""`conditioned`: weighed by the level that the rewards received so far tell. `open`: from the observations alone, as in
the paper. A machine that is told its true state knows better than either."""

IMPOSSIBLE = 1e-6
"""Probability up to which a belief counts as calling a level impossible."""


class Seen(NamedTuple):
    """What a step of N environments showed, before any reset."""

    observation: Tensor
    """(envs, …) the observation, or its row number among the frames."""
    features: Tensor | None
    """(envs, width) its features: given to memories that learn, which read them."""
    action: Tensor
    """(envs,) the action that led to it."""
    reward: Tensor
    """(envs,) what was paid."""
    state: Tensor | None
    """(envs,) the machine's true state: given to memories that see the truth alone."""


class Memory(Protocol):
    """A memory for N environments at once."""

    size: int
    """Width of the feature."""
    sees_truth: bool
    """Whether `read` is given the machine's true state."""
    learns: bool
    """Whether gradients of the agent's loss reach the memory's parameters (it is then an `nn.Module`)."""
    table: Tensor | None
    """(rows, size) all features that there are, where they are few; the carry is then (envs,) their row numbers."""

    def start(self, count: int) -> Tensor:
        """The carry at the beginning of episodes: (envs, …)."""

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """The carry after a step, before any reset."""

    def feature(self, carry: Tensor) -> Tensor:
        """(…, size) what the policy sees of a carry, with any leading dimensions."""

    def on(self, frames: Tensor | None) -> Memory:
        """The same memory for another world of the same task, whose listed observations are `frames`."""


def reset(memory: Memory, carry: Tensor, done: Tensor) -> Tensor:
    """The carry with a new beginning where an episode is done (envs,)."""
    if not bool(done.any()):
        return carry
    shape = (-1,) + (1,) * (carry.dim() - 1)
    return torch.where(done.view(shape), memory.start(1), carry)


class MachineMemory:
    """The true state of the machine, one-hot."""

    sees_truth = True
    learns = False

    def __init__(self, machine: MooreMachine) -> None:
        self.size = machine.states
        self.table: Tensor | None = torch.eye(machine.states)
        self._initial = machine.initial

    def start(self, count: int) -> Tensor:
        """All in the initial state: (envs,)."""
        return torch.full((count,), self._initial)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:  # noqa: ARG002 - the truth needs no memory of its own
        """The state that was reached."""
        assert seen.state is not None
        return seen.state

    def feature(self, carry: Tensor) -> Tensor:
        """The state, one-hot."""
        assert self.table is not None
        return self.table[carry]

    def on(self, frames: Tensor | None) -> MachineMemory:  # noqa: ARG002 - it looks at no observation
        """Itself."""
        return self


class BeliefMemory:
    """The belief of the neural machine over its states, and the level of the rewards so far.

    Open loop it follows the paper's equation VRM_net; conditioned, it is also weighed by the level that the rewards
    received so far tell. The carry is (envs, states + 1): the belief, then the level.
    """

    sees_truth = False
    learns = False
    table: Tensor | None = None

    def __init__(self, model: NeuralRewardMachine, frames: Tensor | None, belief: Belief) -> None:
        """`frames`: all observations where they are listed; they are then read by their row numbers."""
        self.model = model
        self.size = model.machine.states
        self.belief: Belief = belief
        self._frames = frames
        level = torch.full((1, 1), model.machine.initial_level, device=model.machine.levels.device)
        self._first = torch.cat([model.initial_belief(1).detach(), level], 1)
        self._emission = model.machine.reward_probs().detach()
        levels = model.machine.levels.detach().to(self._emission.dtype)
        self._codec, self._listed_codec = LevelCodec(levels), LevelCodec(levels.cpu().numpy())
        # (levels, states) any of the states that show a level, evenly.
        self._anything = self._emission.t() / self._emission.sum(0)[:, None]
        self._listed: NDArray[np.float32] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Look at the grounder anew: after it has learned, the moves of all known frames are computed once."""
        if self._frames is not None:
            moves = self._moves(self._frames)
            if self.belief == "conditioned":
                # One matrix for each frame with each level: (frames * levels, states, states).
                moves = (moves[:, None] * self._emission.t()[:, None]).flatten(0, 1)
            self._listed = moves.cpu().numpy()

    def _moves(self, observations: Tensor) -> Tensor:
        """(n, states, states) how each observation moves a belief."""
        with torch.no_grad():
            symbols = self.model.ground(observations, check=False)
            return self.model.machine.step_matrices(self.model.letter_probs(symbols))

    def start(self, count: int) -> Tensor:
        """Certain of the initial state."""
        return self._first.repeat(count, 1)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """One step of the recursion."""
        if self._listed is not None:
            return self._read_listed(self._listed, carry, seen)
        belief, level = carry[:, None, :-1], carry[:, -1] + seen.reward
        reached = torch.bmm(belief, self._moves(seen.observation))[:, 0]
        if self.belief == "conditioned":
            shown = self._codec.nearest(level)
            joint = reached * self._emission.t()[shown]
            total = joint.sum(1, keepdim=True)
            # Where a belief calls the level impossible, the grounder is wrong: any state of it.
            reached = torch.where(total > IMPOSSIBLE, joint / total.clamp(min=IMPOSSIBLE), self._anything[shown])
        return torch.cat([reached, level[:, None]], 1)

    def _read_listed(self, listed: NDArray[np.float32], carry: Tensor, seen: Seen) -> Tensor:
        """The same where all matrices are listed; in NumPy, whose calls on a few numbers take a third of the time."""
        before, place = carry.numpy(), seen.observation.numpy()
        after = np.empty_like(before)
        belief, level = after[:, :-1], after[:, -1]
        np.add(before[:, -1], seen.reward.numpy(), out=level)
        if self.belief == "open":
            np.matmul(before[:, None, :-1], listed[place], out=belief[:, None])
            return torch.from_numpy(after)
        shown = self._listed_codec.nearest(level)
        np.matmul(before[:, None, :-1], listed[place * len(self._anything) + shown], out=belief[:, None])
        total = belief.sum(1, keepdims=True)
        possible = total > IMPOSSIBLE
        if possible.all():
            belief /= total
        else:
            scaled = belief / np.maximum(total, IMPOSSIBLE)
            belief[:] = np.where(possible, scaled, self._anything.numpy()[shown])
        return torch.from_numpy(after)

    def feature(self, carry: Tensor) -> Tensor:
        """The belief."""
        return carry[..., :-1]

    def on(self, frames: Tensor | None) -> BeliefMemory:
        """The same model on other frames."""
        return BeliefMemory(self.model, frames, self.belief)
