"""One step of a belief for a few environments, in NumPy: its calls on a few numbers take a fraction of torch's."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from nrm.machines import LevelCodec
from nrm.neural import NeuralRewardMachine

MOST = 1 << 18
"""Numbers of the table of all moves up to which it is kept: letters times states times states."""
IMPOSSIBLE = 1e-6
"""Probability up to which a belief counts as calling a level impossible."""


class BeliefStep:
    """From what is believed, and the letters that the grounder calls probable, to what is believed after a step."""

    def __init__(self, model: NeuralRewardMachine, belief: Literal["conditioned", "open"]) -> None:
        machine = model.machine
        moves = machine.transition_probs().detach()[machine.letter_class.long()]
        self._moves = moves.flatten(1).cpu().numpy()
        self._states = machine.states
        self._shows = np.ascontiguousarray(machine.reward_probs().detach().t().cpu().numpy())
        self._anything = self._shows / self._shows.sum(1, keepdims=True)
        self._codec = LevelCodec(machine.levels.detach().cpu().numpy())
        self._conditioned = belief == "conditioned"

    @classmethod
    def suits(cls, model: NeuralRewardMachine) -> bool:
        """Whether the machine is known, small and on this processor."""
        machine = model.machine
        small = machine.alphabet.size * machine.states**2 <= MOST
        return small and not machine.learned and machine.levels.device.type == "cpu"

    def __call__(self, carry: Tensor, letters: Tensor, reward: Tensor) -> Tensor:
        """(envs, states + 1) belief and level after a step. letters: (envs, letters); reward: (envs,)."""
        before, states = carry.numpy(), self._states
        after = np.empty_like(before)
        level, belief = before[:, states] + reward.numpy(), before[:, None, :states]
        moves = (letters.numpy() @ self._moves).reshape(-1, states, states)
        reached = (belief @ moves)[:, 0]
        if self._conditioned:
            shown = self._codec.nearest(level)
            joint = reached * self._shows[shown]
            total = joint.sum(1, keepdims=True)
            # Where a belief calls the level impossible, the grounder is wrong: any state of it.
            reached = np.where(total > IMPOSSIBLE, joint / np.maximum(total, IMPOSSIBLE), self._anything[shown])
        after[:, :states], after[:, states] = reached, level
        return torch.from_numpy(after)
