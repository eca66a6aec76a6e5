"""One step of the beliefs of N environments: a pure function of beliefs, potentials, letters and rewards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.machines import LevelCodec
from nrm.neural import NeuralRewardMachine

MAX_LISTED = 1 << 25
"""Numbers of the matrices of all listed observations, with all potentials, up to which these are kept."""
IMPOSSIBLE = 1e-6
"""Probability up to which a belief counts as calling a potential impossible."""

Belief: TypeAlias = Literal["filtered", "open-loop", "argmax"]
"""`filtered`: weighed by the potential that the rewards received so far tell. `open-loop`: from the observations alone,
as in the paper. `argmax`: likewise, by the most probable letter of each step, so that small doubts do not add up."""
Step: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From a carry (envs, states + 1, …), letters (envs, letters) and rewards (envs,) to beliefs and potentials after the
step, (envs, states + 1)."""


def belief_step(model: NeuralRewardMachine, belief: Belief) -> Step:
    """The fastest step for a model."""
    machine = model.machine
    letters = machine.classes if model.distribution.counted else machine.alphabet.size
    small = letters * machine.states**2 <= 1 << 18  # numbers of the table of all moves, up to which it is kept
    known = small and not machine.learned and machine.levels.device.type == "cpu"
    return BeliefStep(model, belief) if known else TensorBeliefStep(model, belief)


def listed_step(model: NeuralRewardMachine, belief: Belief, letters: Tensor) -> Step:
    """The same from the row numbers of listed observations, of which the grounder says `letters` (frames, letters)."""
    machine = model.machine
    if len(letters) * len(machine.levels) * machine.states**2 <= MAX_LISTED:
        return ListedBeliefStep(model, belief, letters)
    step = belief_step(model, belief)
    return lambda carry, frames, reward: step(carry, letters[frames], reward)


class BeliefStep:
    """From letters that the grounder calls probable, of a machine that is known and small."""

    def __init__(self, model: NeuralRewardMachine, belief: Belief) -> None:
        machine = model.machine
        moves = machine.transition_probs().detach()
        if not model.distribution.counted:
            moves = moves[machine.letter_class.long()]
        self._moves = moves.flatten(1).cpu().numpy()
        self._states = machine.states
        self._shows = np.ascontiguousarray(machine.reward_probs().detach().t().cpu().numpy())
        self._anything = self._shows / self._shows.sum(1, keepdims=True)
        self._codec = LevelCodec(machine.levels.detach().cpu().numpy())
        self._filters = belief == "filtered"

    def __call__(self, carry: Tensor, letters: Tensor, reward: Tensor) -> Tensor:
        """See `Step`."""
        states = self._states
        before = carry.numpy()[:, : states + 1]
        after = np.empty_like(before)
        level, belief = before[:, states] + reward.numpy(), before[:, None, :states]
        moves = (letters.numpy() @ self._moves).reshape(-1, states, states)
        reached = (belief @ moves)[:, 0]
        if self._filters:
            shown = self._codec.nearest(level)
            joint = reached * self._shows[shown]
            total = joint.sum(1, keepdims=True)
            # Where a belief calls the potential impossible, the grounder is wrong: any state of it.
            reached = np.where(total > IMPOSSIBLE, joint / np.maximum(total, IMPOSSIBLE), self._anything[shown])
        after[:, :states], after[:, states] = reached, level
        return torch.from_numpy(after)


class ListedBeliefStep:
    """From the row numbers of listed observations: one matrix for each of them with each potential."""

    def __init__(self, model: NeuralRewardMachine, belief: Belief, letters: Tensor) -> None:
        """`letters`: (frames, letters) what the grounder says of each."""
        machine = model.machine
        emission = machine.reward_probs().detach()
        moves = machine.step_matrices(letters).detach()
        if belief == "filtered":
            moves = (moves[:, None] * emission.t()[:, None]).flatten(0, 1)
        self._moves: NDArray[np.float32] = moves.cpu().numpy()
        self._anything = (emission.t() / emission.sum(0)[:, None]).cpu().numpy()
        self._codec = LevelCodec(machine.levels.detach().to(emission.dtype).cpu().numpy())
        self._filters = belief == "filtered"

    def __call__(self, carry: Tensor, frames: Tensor, reward: Tensor) -> Tensor:
        """(envs, states + 1) after a step that showed these frames (envs,)."""
        before, place = carry.cpu().numpy(), frames.cpu().numpy()
        after = np.empty_like(before)
        belief, level = after[:, :-1], after[:, -1]
        np.add(before[:, -1], reward.cpu().numpy(), out=level)
        if not self._filters:
            np.matmul(before[:, None, :-1], self._moves[place], out=belief[:, None])
            return torch.from_numpy(after).to(carry.device)
        shown = self._codec.nearest(level)
        np.matmul(before[:, None, :-1], self._moves[place * len(self._anything) + shown], out=belief[:, None])
        total = belief.sum(1, keepdims=True)
        possible = total > IMPOSSIBLE
        if possible.all():
            belief /= total
        else:
            belief[:] = np.where(possible, belief / np.maximum(total, IMPOSSIBLE), self._anything[shown])
        return torch.from_numpy(after).to(carry.device)


class TensorBeliefStep:
    """The same for any machine on any device: one that is learned, or large."""

    def __init__(self, model: NeuralRewardMachine, belief: Belief) -> None:
        self._machine = model.machine
        self._emission = model.machine.reward_probs().detach()
        self._codec = LevelCodec(model.machine.levels.detach().to(self._emission.dtype))
        self._anything = self._emission.t() / self._emission.sum(0)[:, None]
        self._filters = belief == "filtered"

    @torch.no_grad()
    def __call__(self, carry: Tensor, letters: Tensor, reward: Tensor) -> Tensor:
        """See `Step`."""
        states = self._machine.states
        level = carry[:, states] + reward
        reached = self._machine.step(carry[:, :states], letters)
        if self._filters:
            shown = self._codec.nearest(level)
            joint = reached * self._emission.t()[shown]
            total = joint.sum(1, keepdim=True)
            reached = torch.where(total > IMPOSSIBLE, joint / total.clamp(min=IMPOSSIBLE), self._anything[shown])
        return torch.cat([reached, level[:, None]], 1)
