"""The state of a machine that is being learned, as a policy remembers it."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.inference import Hypothesis
from nrm.machines import TOLERANCE
from nrm.tracking.letters import LetterBook
from nrm.tracking.memories import Belief, Transition, reads_rewards


class HypothesisMemory:
    """The number of the state that the present machine is in, one-hot among `room` numbers.

    The machine grows and changes while somebody acts; the width does not, and states keep their numbers as far as
    machines agree. Where a step shows another potential than the machine says, the machine is wrong: the memory goes on
    from a state with that potential. The carry is (envs,) the numbers.
    """

    sees_truth = False
    learns = False

    def __init__(
        self, letters: LetterBook, room: int, corrects: bool = True, device: torch.device | None = None
    ) -> None:
        """`corrects`: whether a potential that the machine does not say is believed; not if some may be wrong."""
        self.letters = letters
        self.size = room
        self.device = device
        self.table: Tensor | None = torch.eye(room, device=device)
        self._corrects = corrects
        self.follow(Hypothesis.blank(0, 0), np.zeros(1, dtype=np.int64), np.zeros(1))

    def follow(self, hypothesis: Hypothesis, numbers: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Be in the states of a machine from now on. numbers: (states,) of its states; values: (potentials,)."""
        self.hypothesis, self.numbers, self.values = hypothesis, numbers, values
        # The last column is for letters that the machine has never met: they do nothing.
        self._moves = np.repeat(np.arange(self.size)[:, None], hypothesis.letters + 1, 1)
        self._moves[numbers, :-1] = numbers[hypothesis.table]
        self._level = np.full(self.size, np.nan)
        self._level[numbers] = values[hypothesis.levels]
        self._seen = np.zeros(self.size, dtype=np.int64)
        self._seen[numbers] = hypothesis.seen.sum(1)
        self._slack = TOLERANCE * (float(values.max() - values.min()) or 1.0)

    def start(self, count: int) -> Tensor:
        """All in the initial state."""
        return torch.full((count,), int(self.numbers[0]), device=self.device)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """The state that the machine says, or one with the potential that was paid."""
        before, letters = carry.cpu().numpy(), self.letters.find(seen)
        letters = np.where((letters < 0) | (letters >= self.hypothesis.letters), self.hypothesis.letters, letters)
        after: NDArray[np.int64] = self._moves[before, letters]
        if self._corrects:
            level = self._level[before] + seen.reward.cpu().numpy()
            off = np.abs(self._level[after] - level) > self._slack
            for place in np.flatnonzero(off).tolist():
                fits = np.abs(self._level - level[place]) <= self._slack
                if fits.any():
                    after[place] = int(np.where(fits, self._seen, -1).argmax())
        return torch.from_numpy(after).to(carry.device)

    def feature(self, carry: Tensor) -> Tensor:
        """(…, room) the number, one-hot."""
        assert self.table is not None
        return self.table[carry]

    def numbers_of(self, carry: Tensor) -> Tensor:
        """(…) the numbers of the states that a carry says."""
        return carry

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> HypothesisMemory:
        """The same machine in another environment with the same observations."""
        corrects = self._corrects and reads_rewards(belief)
        other = HypothesisMemory(self.letters.on(frames), self.size, corrects, self.device)
        other.follow(self.hypothesis, self.numbers, self.values)
        return other
