"""The state of a machine that is being learned, as a policy remembers it."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.inference import MIN_NOISE, Hypothesis, LetterModel, leads_of
from nrm.machines import TOLERANCE, TaskSet
from nrm.tracking.letters import SymbolIndex
from nrm.tracking.memories import Belief, Memory, Report, Transition, reads_rewards


class HypothesisMemory(Memory):
    """The number of the state that the present machine is in, one-hot among `room` numbers.

    The machine grows and changes while somebody acts; the width does not, and states keep their numbers as far as
    machines agree. Where a step shows another potential than the machine says, the machine is wrong: the memory goes on
    from a state with that potential. The carry is (envs,) the numbers.
    """

    def __init__(
        self, letters: SymbolIndex, room: int, corrects: bool = True, device: torch.device | None = None
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
        before = carry.cpu().numpy()
        after: NDArray[np.int64] = self._moves[before, self._columns(seen)]
        if self._corrects:
            level = self._level[before] + seen.reward.cpu().numpy()
            off = np.abs(self._level[after] - level) > self._slack
            for place in np.flatnonzero(off).tolist():
                fits = np.abs(self._level - level[place]) <= self._slack
                if fits.any():
                    after[place] = int(np.where(fits, self._seen, -1).argmax())
        return torch.from_numpy(after).to(carry.device)

    def _columns(self, seen: Transition) -> NDArray[np.int64]:
        """(envs,) the letters that a step showed; the number of letters where the machine has never met one."""
        letters, count = self.letters.find(seen), self.hypothesis.letters
        return np.where((letters < 0) | (letters >= count), count, letters)

    def feature(self, carry: Tensor) -> Tensor:
        """(…, room) the number, one-hot."""
        assert self.table is not None
        return self.table[carry]

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:  # noqa: ARG002
        """The state of the present machine, and the letter that it read."""
        return Report(learned=self.feature(reached)[:, self.numbers], read=torch.from_numpy(self.letters.find(seen)))

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> HypothesisMemory:  # noqa: ARG002
        """The same machine in another environment with the same observations."""
        other = self._like(self.letters.on(frames), self._corrects and reads_rewards(belief))
        other.follow(self.hypothesis, self.numbers, self.values)
        return other

    def _like(self, letters: SymbolIndex, corrects: bool) -> HypothesisMemory:
        return HypothesisMemory(letters, self.size, corrects, self.device)


class HypothesisBelief(HypothesisMemory):
    """How probable it is to be in each state, by number.

    A letter that is given may have been another one, the more often read the more probably; potentials that are paid
    tell states apart. The carry is (envs, room + 1): the belief, and the sum of rewards.
    """

    def __init__(
        self,
        letters: SymbolIndex,
        room: int,
        reward_noise: float,
        label_noise: float,
        corrects: bool = True,
        device: torch.device | None = None,
    ) -> None:
        self._reward_noise, self._label_noise = max(reward_noise, MIN_NOISE), label_noise
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
            likely = LetterModel.of(counts, 0.0).first * LetterModel.of(counts, self._label_noise).noise.T
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
        level, columns = carry[:, -1] + seen.reward, torch.from_numpy(self._columns(seen)).to(carry.device)
        after = (carry[:, None, :-1] @ self._leads[columns])[:, 0]
        if not self._corrects:
            return torch.cat([after, level[:, None]], 1)
        fits = (torch.from_numpy(self._level).float().to(level.device) - level[:, None]).abs() <= self._slack
        after = after * torch.where(fits, 1 - self._reward_noise, self._reward_noise / max(1, len(self.values) - 1))
        return torch.cat([after / after.sum(1, keepdim=True), level[:, None]], 1)

    def feature(self, carry: Tensor) -> Tensor:
        """(…, room) the belief."""
        return carry[..., :-1]

    def _like(self, letters: SymbolIndex, corrects: bool) -> HypothesisMemory:
        return HypothesisBelief(letters, self.size, self._reward_noise, self._label_noise, corrects, self.device)
