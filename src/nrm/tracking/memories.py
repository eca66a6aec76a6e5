"""What an agent remembers of a task, as a pure function on an explicit state, the *carry*.

`start` begins episodes, `read` takes in what a step showed, `reset` begins anew where an episode ended, and `feature`
is what the policy sees (paper, "Comparisons").
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from nrm.errors import LimitError
from nrm.machines import LevelCodec, MooreMachine
from nrm.neural import NeuralRewardMachine
from nrm.neural.model import MOST_CELLS
from nrm.tracking.belief_step import BeliefStep

Belief = Literal["conditioned", "open"]
"""`conditioned`: weighed by the level that the rewards received so far tell. `open`: from the observations alone, as in
the paper. A machine that is told its true state knows better than either."""


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
    return torch.where(done.view(shape), memory.start(len(carry)), carry)


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
        self._start = model.machine.initial_level
        self._emission = model.machine.reward_probs().detach()
        self._codec = LevelCodec(model.machine.levels.detach().to(self._emission.dtype))
        self._matrices: Tensor | None = None
        self._step = BeliefStep(model, belief) if frames is None and BeliefStep.suits(model) else None
        self.refresh()

    def refresh(self) -> None:
        """Look at the grounder anew: after it has learned, the moves of all known frames are computed once."""
        if self._frames is not None:
            self._matrices = self._moves(self._frames)

    def _moves(self, observations: Tensor) -> Tensor:
        """(n, states, states) how each observation moves a belief."""
        with torch.no_grad():
            symbols = self.model.ground(observations, check=False)
            return self.model.machine.step_matrices(self.model.letter_probs(symbols))

    def start(self, count: int) -> Tensor:
        """Certain of the initial state."""
        if self._frames is None and count * self.size**2 > MOST_CELLS:
            raise LimitError(
                f"{count} environments with a machine of {self.size:,} states take matrices of "
                f"{count * self.size**2:,} numbers at every step, more than the limit of {MOST_CELLS:,}; take fewer "
                "environments, or a task with fewer states"
            )
        level = torch.full((count, 1), self._start, device=self._emission.device)
        return torch.cat([self.model.initial_belief(count).detach(), level], 1)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """One step of the recursion."""
        if self._step is not None:
            with torch.no_grad():
                letters = self.model.letter_probs(self.model.ground(seen.observation, check=False))
            return self._step(carry, letters, seen.reward)
        moves = self._moves(seen.observation) if self._matrices is None else self._matrices[seen.observation]
        belief = torch.bmm(carry[:, None, :-1], moves)[:, 0]
        level = carry[:, -1] + seen.reward
        if self.belief == "conditioned":
            belief = self._weighed(belief, level)
        return torch.cat([belief, level[:, None]], 1)

    def _weighed(self, belief: Tensor, level: Tensor) -> Tensor:
        """The belief given the level. Where it calls the level impossible, the grounder is wrong: any state of it."""
        allowed = self._emission.t()[self._codec.nearest(level)]
        joint = belief * allowed
        total = joint.sum(1, keepdim=True)
        anything = allowed / allowed.sum(1, keepdim=True)
        return torch.where(total > 1e-6, joint / total.clamp(min=1e-6), anything)

    def feature(self, carry: Tensor) -> Tensor:
        """The belief."""
        return carry[..., :-1]

    def on(self, frames: Tensor | None) -> BeliefMemory:
        """The same model on other frames."""
        return BeliefMemory(self.model, frames, self.belief)
