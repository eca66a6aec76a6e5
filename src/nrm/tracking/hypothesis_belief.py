"""What is believed of the states of a machine that is being learned, where letters are sometimes wrong."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.inference import SLIP, Hypothesis, LetterModel, leads_of
from nrm.tracking.hypothesis_memory import HypothesisMemory
from nrm.tracking.letters import LetterBook
from nrm.tracking.memories import Belief, Transition, reads_rewards


class HypothesisBelief(HypothesisMemory):
    """How probable it is to be in each state, by number.

    A letter that is told may have been another one, the more often read the more probably; potentials that are paid
    tell states apart. The carry is (envs, room + 1): the belief, and the sum of rewards.
    """

    def __init__(
        self,
        letters: LetterBook,
        room: int,
        reward_noise: float,
        label_noise: float,
        corrects: bool = True,
        device: torch.device | None = None,
    ) -> None:
        self._flips, self._misread = max(reward_noise, SLIP), label_noise
        super().__init__(letters, room, corrects, device)
        self.table = None

    def follow(self, hypothesis: Hypothesis, numbers: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Believe in the states of a machine from now on. numbers: (states,) of its states; values: (potentials,)."""
        super().follow(hypothesis, numbers, values)
        likely = np.zeros((0, 0))
        if hypothesis.letters:
            # What came before a letter is not looked at: so many were read in all.
            counts = np.zeros((hypothesis.letters + 1, hypothesis.letters))
            counts[0] = hypothesis.seen.sum(0)
            likely = LetterModel.of(counts, 0.0).first * LetterModel.of(counts, self._misread).told.T
            likely /= likely.sum(1, keepdims=True)
        leads = leads_of(self._moves)
        moves = np.concatenate([np.tensordot(likely, leads[:-1], 1), leads[-1:]])
        self._leads = torch.from_numpy(moves).float().to(self.device)

    def start(self, count: int) -> Tensor:
        """All in the initial state, and nothing was paid."""
        result = torch.zeros(count, self.size + 1, device=self.device)
        result[:, int(self.numbers[0])] = 1.0
        return result

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """By the letters as they may have been, and by the potential that was paid."""
        letters = self.letters.find(seen)
        letters = np.where((letters < 0) | (letters >= self.hypothesis.letters), self.hypothesis.letters, letters)
        level = carry[:, -1] + seen.reward
        after = (carry[:, None, :-1] @ self._leads[torch.from_numpy(letters).to(carry.device)])[:, 0]
        if not self._corrects:
            return torch.cat([after, level[:, None]], 1)
        fits = (torch.from_numpy(self._level).float().to(level.device) - level[:, None]).abs() <= self._slack
        after = after * torch.where(fits, 1 - self._flips, self._flips / max(1, len(self.values) - 1))
        return torch.cat([after / after.sum(1, keepdim=True), level[:, None]], 1)

    def feature(self, carry: Tensor) -> Tensor:
        """(…, room) the belief."""
        return carry[..., :-1]

    def numbers_of(self, carry: Tensor) -> Tensor:
        """(…) the most probable numbers."""
        return carry[..., :-1].argmax(-1)

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> HypothesisBelief:
        """The same machine in another environment with the same observations."""
        corrects = self._corrects and reads_rewards(belief)
        other = HypothesisBelief(self.letters.on(frames), self.size, self._flips, self._misread, corrects, self.device)
        other.follow(self.hypothesis, self.numbers, self.values)
        return other
