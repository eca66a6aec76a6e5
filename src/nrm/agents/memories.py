"""What differs between the methods: the memory that turns a history into a feature (paper, "Comparisons").

A memory is a pure function on an explicit state, the *carry*: `start` begins episodes, `read` takes in what a step
showed, `reset` begins anew where an episode ended, and `feature` is what the policy sees.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from nrm.machines import MooreMachine
from nrm.neural import NeuralRewardMachine


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
    """(envs,) the machine's true state: given to the RM method alone."""


class Memory(Protocol):
    """A memory for N environments at once."""

    size: int
    """Width of the feature."""
    sees_truth: bool
    """Whether `read` is given the machine's true state."""
    learns: bool
    """Whether gradients of the agent's loss reach the memory's parameters."""
    table: Tensor | None
    """(rows, size) all features that there are, where they are few; the carry is then (envs,) their row numbers."""

    def start(self, count: int) -> Tensor:
        """The carry at the beginning of episodes: (envs, …)."""

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """The carry after a step, before any reset."""

    def feature(self, carry: Tensor) -> Tensor:
        """(…, size) what the policy sees of a carry, with any leading dimensions."""


def reset(memory: Memory, carry: Tensor, done: Tensor) -> Tensor:
    """The carry with a new beginning where an episode is done (envs,)."""
    if not bool(done.any()):
        return carry
    shape = (-1,) + (1,) * (carry.dim() - 1)
    return torch.where(done.view(shape), memory.start(len(carry)), carry)


class MachineMemory:
    """RM: the true state of the machine, one-hot."""

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


class BeliefMemory:
    """NRM: the belief of the neural machine over its states, and the level of the rewards so far.

    Open loop it follows the paper's equation VRM_net; conditioned, it is also weighed by the level that the rewards
    received so far tell. The carry is (envs, states + 1): the belief, then the level.
    """

    sees_truth = False
    learns = False
    table: Tensor | None = None

    def __init__(self, model: NeuralRewardMachine, frames: Tensor | None, conditioned: bool) -> None:
        self.model = model
        self.size = model.machine.states
        self._conditioned = conditioned
        self._frames = frames
        self._start = float(model.machine.levels[model.machine.reward_probs()[model.machine.start.argmax()].argmax()])
        self._emission = model.machine.reward_probs().detach()
        self._levels = model.machine.levels.detach()
        self._matrices: Tensor | None = None
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
        level = torch.full((count, 1), self._start)
        return torch.cat([self.model.initial_belief(count).detach(), level], 1)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """One step of the recursion."""
        moves = self._moves(seen.observation) if self._matrices is None else self._matrices[seen.observation]
        belief = torch.bmm(carry[:, None, :-1], moves)[:, 0]
        level = carry[:, -1] + seen.reward
        if self._conditioned:
            belief = self._weighed(belief, level)
        return torch.cat([belief, level[:, None]], 1)

    def _weighed(self, belief: Tensor, level: Tensor) -> Tensor:
        """The belief given the level. Where it calls the level impossible, the grounder is wrong: any state of it."""
        nearest = (level[:, None] - self._levels.to(level.dtype)).abs().argmin(1)
        allowed = self._emission.t()[nearest]
        joint = belief * allowed
        total = joint.sum(1, keepdim=True)
        anything = allowed / allowed.sum(1, keepdim=True)
        return torch.where(total > 1e-6, joint / total.clamp(min=1e-6), anything)

    def feature(self, carry: Tensor) -> Tensor:
        """The belief."""
        return carry[..., :-1]


class RecurrentMemory(nn.Module):
    """RNN: the hidden state of an LSTM that reads features, actions, rewards. The carry is (envs, 2, layers, size)."""

    sees_truth = False
    learns = True
    table: Tensor | None = None

    def __init__(self, features: int, actions: int, size: int, layers: int, reads_rewards: bool) -> None:
        """`reads_rewards`: whether it reads actions and rewards too, or observations alone as in the paper."""
        super().__init__()
        self.size = size
        self._layers = layers
        self._actions = actions
        self._reads_rewards = reads_rewards
        self.lstm = nn.LSTM(features + (actions + 1 if reads_rewards else 0), size, layers)

    def start(self, count: int) -> Tensor:
        """Nothing read yet."""
        return torch.zeros(count, 2, self._layers, self.size)

    def read(self, carry: Tensor, seen: Seen) -> Tensor:
        """One step of the LSTM."""
        inputs = seen.features
        assert inputs is not None
        if self._reads_rewards:
            # A level of 100 is the best there is, so rewards are read in units of it.
            actions = one_hot(seen.action, self._actions).to(inputs.dtype)
            inputs = torch.cat([inputs, actions, seen.reward[:, None].to(inputs.dtype) / 100], 1)
        hidden, cell = carry.permute(1, 2, 0, 3).contiguous()
        _, (hidden, cell) = self.lstm(inputs[None], (hidden, cell))
        return torch.stack([hidden, cell]).permute(2, 0, 1, 3)

    def feature(self, carry: Tensor) -> Tensor:
        """The hidden state of the last layer."""
        return carry[..., 0, -1, :]
