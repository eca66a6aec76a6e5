"""The probabilistic Moore machine as a module: known exactly, or parameters to be learned (paper, "Implementation")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from nrm.automata import LetterClasses, ListedLetters
from nrm.errors import AlphabetError, LearningError, LimitError, MachineError
from nrm.machines import Alphabet, MooreMachine, TaskSet, minimise
from nrm.neural.emission import ClassCounting
from nrm.neural.episodes import EpisodeBatch, gathered
from nrm.neural.recursion import DenseChain, SparseChain, moved

Part = Literal["transitions", "rewards"]

COUNTED = 6
"""Propositions up to which the probabilities of all letters are faster than counting those of classes."""

MANY_STATES = 16
"""States from which known moves are followed one by one: matrices are slower, and soon fill the memory."""

MAX_CELLS = 500_000_000
"""Most numbers in the matrices of one batch: 2 GB in single precision, and as much again for gradients."""


class ProbabilisticMoore(nn.Module):
    """Transitions, rewards and initial state of a neural reward machine; each part known or learned.

    A known part is an exact one-hot buffer without gradient. A learned part is a parameter of logits behind
    softmax(logits / temperature). Letters with equal transitions share a class: `transition_probs` is (classes, states,
    states).
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
        transitions: Tensor | nn.Parameter,
        rewards: Tensor | nn.Parameter,
        initial: int = 0,
        temperature: float = 1.0,
    ) -> None:
        """Use `from_machine` or `unknown`. `nn.Parameter`s are logits; plain tensors are probabilities."""
        super().__init__()
        self.counting: ClassCounting | None = None
        """From independent propositions to letter classes, where the machine is known and propositions are several."""
        self.alphabet = alphabet
        self.states = int(transitions.shape[-1])
        self.initial = initial
        self.temperature = temperature
        self.register_buffer("letter_class", torch.as_tensor(np.array(letter_class), dtype=torch.int64))
        self.register_buffer("levels", torch.as_tensor(np.array(levels), dtype=torch.float64))
        self.register_buffer("start", nn.functional.one_hot(torch.tensor(initial), self.states).to(rewards.dtype))
        self._letters_are_classes = np.array_equal(letter_class, np.arange(transitions.shape[0]))
        for part, values in (("transitions", transitions), ("rewards", rewards)):
            if isinstance(values, nn.Parameter):
                self.register_parameter(part, values)
            else:
                self.register_buffer(part, values)

    @classmethod
    def from_machine(
        cls,
        machine: MooreMachine,
        *,
        unknown: Iterable[Part] = (),
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        joint: bool | None = None,
    ) -> ProbabilisticMoore:
        """The exact machine; parts named in `unknown` start at random.

        `joint`: read distributions over all letters, the default for few propositions. Otherwise only symbol classes
        are read, counted from independent propositions.
        """
        unknown = _parts(unknown)
        alphabet = machine.alphabet
        # Classes are knowledge about transitions: whoever learns those learns each letter for itself.
        by_letter = "transitions" in unknown
        if by_letter and not alphabet.is_listable:
            raise LearningError(
                f"transitions are learned letter by letter, and {len(alphabet.symbols)} propositions have too many"
            )
        counting = None
        if (alphabet.propositions or 0) > COUNTED and not by_letter:
            counting = ClassCounting(machine.letters.function(len(alphabet.symbols)), machine.classes)
        if joint is None:
            joint = counting is None or alphabet.is_small
        each = np.arange(alphabet.size if joint or by_letter else machine.classes, dtype=np.int32)
        letter_class = each if by_letter or not joint else machine.letter_class
        columns = machine.transitions if by_letter else machine.columns
        check_size(columns.shape[1], machine.states)
        targets = torch.tensor(columns.T, dtype=torch.int64).unsqueeze(2)
        transitions = torch.zeros(*targets.shape[:2], machine.states, dtype=dtype).scatter_(2, targets, 1.0)
        rewards = nn.functional.one_hot(
            torch.tensor(machine.level_of_state, dtype=torch.int64), len(machine.levels)
        ).to(dtype)
        values: dict[Part, Tensor] = {"transitions": transitions, "rewards": rewards}
        for part in unknown:
            values[part] = nn.Parameter(torch.zeros_like(values[part]))
        tables = values["transitions"], values["rewards"]
        module = cls(alphabet, letter_class, machine.levels, *tables, machine.initial)
        module.counting = counting
        module.reset(unknown, torch.Generator().manual_seed(seed))
        return module

    @classmethod
    def unknown(
        cls,
        alphabet: Alphabet | Sequence[str],
        states: int,
        levels: ArrayLike,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> ProbabilisticMoore:
        """A machine to be learned, with enough states for the task, and the potentials it can output."""
        letters = alphabet if isinstance(alphabet, Alphabet) else Alphabet.exclusive(alphabet)
        given = np.unique(np.asarray(levels, dtype=np.float64))
        if states < 1 or not given.size or not np.isfinite(given).all():
            raise MachineError(
                f"a machine needs a state and finite potentials; got {states} states, potentials {given.tolist()}"
            )
        module = cls(
            letters,
            np.arange(letters.size),
            given,
            nn.Parameter(torch.zeros(letters.size, states, states, dtype=dtype)),
            nn.Parameter(torch.zeros(states, len(given), dtype=dtype)),
        )
        module.reset(("transitions", "rewards"), torch.Generator().manual_seed(seed))
        return module

    @property
    def learned(self) -> tuple[Part, ...]:
        """The parts that are parameters."""
        return tuple(part for part in get_args(Part) if isinstance(getattr(self, part), nn.Parameter))

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
        """The potential of the initial state; the most probable one if rewards are learned."""
        return float(self.levels[self.reward_probs()[self.initial].argmax()])

    def transition_probs(self) -> Tensor:
        """(classes, states, states) M_t: the probability of each next state."""
        return self._probs(self.transitions)

    def reward_probs(self) -> Tensor:
        """(states, potentials) M_r: the probability of each potential."""
        return self._probs(self.rewards)

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
        member = nn.functional.one_hot(self.letter_class, self.classes).to(letters.dtype)
        return letters @ member

    def step_matrices(self, letters: Tensor) -> Tensor:
        """(…, states, states) the mean of M_t under letter probabilities (…, letters)."""
        mixed = self.class_probs(letters) @ self.transition_probs().flatten(1)
        return mixed.view(*letters.shape[:-1], self.states, self.states)

    def step(self, belief: Tensor, letters: Tensor) -> Tensor:
        """(batch, states) beliefs after reading letter probabilities (batch, letters)."""
        if self.is_sparse:
            return moved(belief, self.class_probs(letters), self.targets())
        return torch.bmm(belief.unsqueeze(1), self.step_matrices(letters)).squeeze(1)

    @property
    def is_sparse(self) -> bool:
        """Whether transitions are followed one by one: for known machines with many states."""
        return self.states >= MANY_STATES and "transitions" not in self.learned

    def targets(self, batch: EpisodeBatch | None = None) -> Tensor:  # noqa: ARG002 - there is one machine only
        """(1, states, classes) the next state by symbol class, for a known machine."""
        return self.transitions.argmax(-1).t().unsqueeze(0)

    def chain(self, letters: Tensor, rows: Tensor, batch: EpisodeBatch, observed: bool) -> DenseChain | SparseChain:
        """The steps of a batch, from letter probabilities (n, letters).

        rows: (batch, time) which of `letters` a step has. With `observed`, the next states are weighed by how probable
        they make what is known of the potential.
        """
        if not self.is_sparse:
            return DenseChain(self._matrices(letters, rows, batch, observed))
        shown = gathered(batch.weighed(self.reward_probs()).t(), batch.levels.t()) if observed else None
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
        shown = batch.weighed(self.reward_probs()).t()
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
        return (self.reward_probs() > 0).float().expand(len(batch.lengths), -1, -1)

    def name_of(self, batch: EpisodeBatch, episode: int) -> str:  # noqa: ARG002 - there is one machine only
        """How messages speak of the machine of an episode."""
        return "this machine"

    @torch.no_grad()
    def most_probable(self) -> MooreMachine:
        """The machine of the most probable transitions and potentials; states with the highest potential accept."""
        table = self.transition_probs().argmax(-1).cpu().numpy().T.astype(np.int32)
        levels = self.levels.cpu().numpy()
        outputs = levels[self.reward_probs().argmax(-1).cpu().numpy()]
        return MooreMachine(self.alphabet, self.letters, table, outputs == float(levels.max()), outputs, self.initial)

    def known(self) -> TaskSet:
        """The tasks: here the only one, which may have been learned."""
        return TaskSet.of([minimise(self.most_probable(), by="outputs")])

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
            "temperature": self.temperature,
            "learned": list(self.learned),
            "dtype": str(self.dtype),
            "counting": None if self.counting is None else self.counting.described(),
        }

    def reset(self, parts: Iterable[Part], generator: torch.Generator) -> None:
        """Fresh logits of some learned parts; transitions with a pull towards staying."""
        for part in parts:
            if part not in self.learned:
                raise LearningError(f"the {part} of this machine are known; only unknown parts are drawn")
            logits: Tensor = getattr(self, part)
            with torch.no_grad():
                drawn = torch.randn(logits.shape, generator=generator, dtype=logits.dtype)
                if part == "transitions":
                    # Most letters do nothing in most states.
                    drawn = drawn + 4.0 * torch.eye(self.states, dtype=logits.dtype)
                logits.copy_(drawn.to(logits.device))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> ProbabilisticMoore:
        """Moves and changes of number type (`.to`, `.float`) leave potentials as exact as they were."""
        exact = self.levels
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.levels = exact.to(self.levels.device)
        return self

    def _probs(self, values: Tensor) -> Tensor:
        return torch.softmax(values / self.temperature, -1) if isinstance(values, nn.Parameter) else values

    def extra_repr(self) -> str:
        """What `print(module)` shows."""
        known = [f"{part} {'learned' if part in self.learned else 'known'}" for part in get_args(Part)]
        return f"{self.states} states, {self.classes} classes, {len(self.levels)} potentials, {', '.join(known)}"


def check_size(matrices: int, states: int) -> None:
    """Raise `LimitError` instead of filling the memory with a matrix for every letter, or every step."""
    cells = matrices * states**2
    if cells > MAX_CELLS:
        raise LimitError(
            f"{matrices:,} matrices for a machine of {states:,} states have {cells:,} numbers, more than the limit of "
            f"{MAX_CELLS:,}; take a task with fewer states or, if it is learned, fewer or shorter episodes"
        )


def _parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    given = (parts,) if isinstance(parts, str) else tuple(parts)
    for part in given:
        if part not in get_args(Part):
            raise LearningError(f"a machine has the parts 'transitions' and 'rewards', not '{part}'")
    return given  # type: ignore[return-value]
