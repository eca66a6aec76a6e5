"""The machine of a task as a module: exact tables of moves and potentials (paper, "Implementation")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.functional import one_hot

from nrm.automata import LetterClasses, ListedLetters
from nrm.errors import AlphabetError, LimitError
from nrm.machines import Alphabet, MooreMachine, TaskSet, minimise
from nrm.neural.emission import ClassCounting
from nrm.neural.episodes import EpisodeBatch, gathered
from nrm.neural.recursion import DenseChain, SparseChain, moved

COUNTED = 6
"""Propositions up to which the probabilities of all letters are faster than counting those of classes."""

MANY_STATES = 16
"""States from which moves are followed one by one: matrices are slower, and soon fill the memory."""

MAX_CELLS = 500_000_000
"""Most numbers in the matrices of one batch: 2 GB in single precision, and as much again for gradients."""


class ProbabilisticMoore(nn.Module):
    """Transitions, rewards and initial state of a neural reward machine, as one-hot tables without parameters.

    Letters with equal transitions share a class: `transitions` is (classes, states, states), `rewards` is (states,
    potentials).
    """

    tasks: TaskSet | None = None
    """The tasks, where there are many and every episode has one of them."""
    letter_class: Tensor
    levels: Tensor
    start: Tensor
    transitions: Tensor
    rewards: Tensor

    def __init__(
        self,
        alphabet: Alphabet,
        letter_class: ArrayLike,
        levels: ArrayLike,
        transitions: Tensor,
        rewards: Tensor,
        initial: int = 0,
        counting: ClassCounting | None = None,
    ) -> None:
        """Use `from_machine`. `counting`: from independent propositions to classes, where propositions are several."""
        super().__init__()
        self.alphabet = alphabet
        self.states = int(transitions.shape[-1])
        self.initial = initial
        self.register_buffer("letter_class", torch.as_tensor(np.array(letter_class), dtype=torch.int64))
        self.register_buffer("levels", torch.as_tensor(np.array(levels), dtype=torch.float64))
        self.register_buffer("start", one_hot(torch.tensor(initial), self.states).to(rewards.dtype))
        self.register_buffer("transitions", transitions)
        self.register_buffer("rewards", rewards)
        self.counting = counting
        self._letters_are_classes = np.array_equal(letter_class, np.arange(transitions.shape[0]))

    @classmethod
    def from_machine(
        cls, machine: MooreMachine, *, dtype: torch.dtype = torch.float32, joint: bool | None = None
    ) -> ProbabilisticMoore:
        """The module of a machine.

        `joint`: read distributions over all letters, the default for few propositions. Otherwise only symbol classes
        are read, counted from independent propositions.
        """
        alphabet, counting = machine.alphabet, None
        if (alphabet.propositions or 0) > COUNTED:
            counting = ClassCounting(machine.letters.function(len(alphabet.symbols)), machine.classes)
        if joint is None:
            joint = counting is None or alphabet.is_small
        letter_class = machine.letter_class if joint else np.arange(machine.classes, dtype=np.int32)
        check_size(machine.classes, machine.states)
        transitions = one_hot(torch.tensor(machine.columns.T, dtype=torch.int64), machine.states).to(dtype)
        shown = torch.tensor(machine.level_of_state, dtype=torch.int64)
        rewards = one_hot(shown, len(machine.levels)).to(dtype)
        return cls(alphabet, letter_class, machine.levels, transitions, rewards, machine.initial, counting)

    @property
    def classes(self) -> int:
        """Number of symbol classes."""
        return int(self.transitions.shape[0])

    @property
    def dtype(self) -> torch.dtype:
        """The type of its numbers."""
        return self.transitions.dtype

    @property
    def moved_by_propositions(self) -> Callable[[Tensor], Tensor] | None:
        """From independent propositions (…, n) to what it moves by, where these are not letters."""
        return self.counting

    @property
    def initial_level(self) -> float:
        """The potential of the initial state."""
        return float(self.levels[self.rewards[self.initial].argmax()])

    @property
    def letters(self) -> LetterClasses:
        """From letters to their classes."""
        if self.counting is not None:
            return self.counting.letters
        return ListedLetters(self.letter_class.cpu().numpy().astype(np.int32))

    def class_probs(self, letters: Tensor) -> Tensor:
        """(…, classes) probabilities of classes from those of letters (…, letters)."""
        if self.counting is not None and letters.shape[-1] == self.classes:
            return letters
        if letters.shape[-1] != len(self.letter_class):
            wanted = f"the machine's alphabet has {len(self.letter_class)}"
            raise AlphabetError(f"the grounder gives the probabilities of {letters.shape[-1]} letters, {wanted}")
        if self._letters_are_classes:
            return letters
        return letters @ one_hot(self.letter_class, self.classes).to(letters.dtype)

    def step_matrices(self, letters: Tensor) -> Tensor:
        """(…, states, states) the mean of `transitions` under letter probabilities (…, letters)."""
        mixed = self.class_probs(letters) @ self.transitions.flatten(1)
        return mixed.view(*letters.shape[:-1], self.states, self.states)

    def step(self, belief: Tensor, letters: Tensor) -> Tensor:
        """(batch, states) beliefs after reading letter probabilities (batch, letters)."""
        if self.is_sparse:
            return moved(belief, self.class_probs(letters), self.targets())
        return torch.bmm(belief.unsqueeze(1), self.step_matrices(letters)).squeeze(1)

    @property
    def is_sparse(self) -> bool:
        """Whether transitions are followed one by one."""
        return self.states >= MANY_STATES

    def targets(self, batch: EpisodeBatch | None = None) -> Tensor:  # noqa: ARG002 - there is one machine only
        """(1, states, classes) the next state by symbol class."""
        return self.transitions.argmax(-1).t().unsqueeze(0)

    def chain(self, letters: Tensor, rows: Tensor, batch: EpisodeBatch, observed: bool) -> DenseChain | SparseChain:
        """The steps of a batch, from letter probabilities (n, letters).

        rows: (batch, time) which of `letters` a step has. With `observed`, the next states are weighed by how probable
        they make what is known of the potential.
        """
        if not self.is_sparse:
            return DenseChain(self._matrices(letters, rows, batch, observed))
        shown = gathered(batch.weighed(self.rewards).t(), batch.levels.t()) if observed else None
        return SparseChain(self.targets(), gathered(self.class_probs(letters), rows.t()), shown, batch.mask.t())

    def cells(self, batch: EpisodeBatch) -> int:
        """How many numbers the chain of a batch has, about."""
        return batch.seen.numel() * self.states * (1 if self.is_sparse else self.states)

    def _matrices(self, letters: Tensor, rows: Tensor, batch: EpisodeBatch, observed: bool) -> Tensor:
        """(time, batch, states, states) one matrix a step: the identity at padding."""
        check_size(len(letters) + rows.numel(), self.states)
        matrices = self._unpadded(letters, rows, batch, observed)
        if bool((batch.lengths < rows.shape[1]).any()):
            identity = torch.eye(self.states, dtype=matrices.dtype, device=matrices.device)
            matrices = torch.where(batch.mask.t()[..., None, None], matrices, identity)
        return matrices

    def _unpadded(self, letters: Tensor, rows: Tensor, batch: EpisodeBatch, observed: bool) -> Tensor:
        moves = self.step_matrices(letters)
        seen, levels = rows.t(), batch.levels.t()
        if not observed:
            return gathered(moves, seen)
        # shown[code]: each row holds the probabilities of what is known, state by state.
        shown = batch.weighed(self.rewards).t()
        shown = shown.unsqueeze(1).expand(-1, self.states, -1).contiguous()
        if len(moves) * len(shown) <= seen.numel():
            # Few observations: one matrix for each with each code, then a gather.
            weighed = (moves.unsqueeze(1) * shown).flatten(0, 1)
            return gathered(weighed, seen * len(shown) + levels)
        return gathered(moves, seen) * gathered(shown, levels)

    def starts(self, batch: EpisodeBatch) -> Tensor:
        """(batch, states) certain of the initial state."""
        return self.start.expand(len(batch.lengths), -1).contiguous()

    def possible_levels(self, batch: EpisodeBatch) -> Tensor:
        """(batch, states, potentials) 1 if a state can output a potential."""
        return (self.rewards > 0).float().expand(len(batch.lengths), -1, -1)

    def name_of(self, batch: EpisodeBatch, episode: int) -> str:  # noqa: ARG002 - there is one machine only
        """How messages speak of the machine of an episode."""
        return "this machine"

    def known(self) -> TaskSet:
        """The tasks: here the only one, minimised by its outputs. States with the highest potential accept."""
        table = self.transitions.argmax(-1).cpu().numpy().T.astype(np.int32)
        levels = self.levels.cpu().numpy()
        outputs = levels[self.rewards.argmax(-1).cpu().numpy()]
        machine = MooreMachine(self.alphabet, self.letters, table, outputs == levels.max(), outputs, self.initial)
        return TaskSet.of([minimise(machine, by="outputs")])

    def of_task(self, number: int) -> ProbabilisticMoore | MooreMachine:  # noqa: ARG002 - there is one machine only
        """The machine of a task."""
        return self

    def described(self) -> dict[str, Any]:
        """What files say of it, beside its tensors."""
        return {
            "symbols": list(self.alphabet.symbols),
            "kind": self.alphabet.kind,
            "occurring": None if self.alphabet.occurring is None else list(self.alphabet.occurring),
            "states": self.states,
            "classes": self.classes,
            "initial": self.initial,
            "dtype": str(self.dtype),
            "counting": None if self.counting is None else self.counting.described(),
        }

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> ProbabilisticMoore:
        """Moves and changes of number type (`.to`, `.float`) leave potentials as exact as they were."""
        exact = self.levels
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.levels = exact.to(self.levels.device)
        return self

    def extra_repr(self) -> str:
        """What `print(module)` shows."""
        return f"{self.states} states, {self.classes} classes, {len(self.levels)} potentials"


def check_size(matrices: int, states: int) -> None:
    """Raise `LimitError` instead of filling the memory with a matrix for every letter, or every step."""
    cells = matrices * states**2
    if cells > MAX_CELLS:
        raise LimitError(
            f"{matrices:,} matrices for a machine of {states:,} states have {cells:,} numbers, more than the limit of "
            f"{MAX_CELLS:,}; take a task with fewer states, or fewer or shorter episodes"
        )
