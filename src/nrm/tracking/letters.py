"""What counts as one letter of an unknown machine, and letters that are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import EnvError, LearningError, LimitError
from nrm.inference import Evidence, Hypothesis, LetterTrace, learn_machine
from nrm.machines import Alphabet
from nrm.tracking.memories import Transition
from nrm.tracking.recorder import RecordedEpisode

MAX_LETTERS = 1024
"""Distinct observations up to which each is a letter of its own."""
UNKNOWN = -1
"""The number of what was never recorded."""

UNTOLD = (
    "the symbols are to be told (info['letter']), and this environment does not; put the task on it with "
    "nrm.TaskEnv(env, machine, label), or learn symbols too: the method 'pure-learning', or "
    "nrm.unknown_machine() without symbols"
)


class UnexplainedError(LearningError):
    """No symbols were found over which a machine explains the episodes."""


class LetterBook(Protocol):
    """Numbers of letters, in the order in which they came."""

    told: bool
    """Whether letters are true symbols, which the environment tells."""
    endless: bool
    """Whether what is observed is without end, so that letters are symbols that a grounder reads."""

    def __len__(self) -> int:
        """How many letters there are so far."""

    def find(self, seen: Transition) -> NDArray[np.int64]:
        """(envs,) the letters that a step showed; `UNKNOWN` where one was never recorded."""

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """(time,) the numbers of what an episode observed, new ones among them."""

    def read(self, trace: LetterTrace) -> LetterTrace:
        """An episode with letters in place of the numbers of what it observed."""

    def learn(
        self,
        traces: Sequence[LetterTrace],
        values: NDArray[np.float64],
        states: int,
        reward_noise: float,
        label_noise: float,
    ) -> Hypothesis:
        """The machine of some episodes with numbers of what was observed, and indices of potentials `values`.

        What letters mean may be learned with it. `states`: most that it may have; `reward_noise`, `label_noise`: as
        of `Evidence`.
        """

    def compact(self, used: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Let go of all that was observed but what has these numbers; where each has moved, None where none has."""

    def name(self, letter: int) -> str:
        """How people read a letter."""

    def on(self, frames: Tensor | None) -> LetterBook:
        """The same letters in another environment, whose listed observations are `frames`."""

    def state_dict(self) -> dict[str, Any]:
        """What numbers depend on."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""


class Numbered:
    """Letters that are the numbers of what was observed."""

    told = False
    endless = False

    def __len__(self) -> int:
        raise NotImplementedError

    def read(self, trace: LetterTrace) -> LetterTrace:
        """As it is."""
        return trace

    def learn(
        self,
        traces: Sequence[LetterTrace],
        values: NDArray[np.float64],
        states: int,
        reward_noise: float,
        label_noise: float,
    ) -> Hypothesis:
        """By state merging, or by description length where something may be wrong."""
        return learn_machine(Evidence.of(traces, len(self), len(values), 0, reward_noise, label_noise), states)

    def compact(self, used: NDArray[np.int64]) -> None:
        """Nothing is let go."""


class ToldLetters(Numbered):
    """The letters of an alphabet that the environment tells, those that occurred so far."""

    told = True

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.letters: list[int] = []
        """The letter of the alphabet that each number stands for."""
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.letters)

    def find(self, seen: Transition) -> NDArray[np.int64]:
        """By looking them up."""
        if seen.letter is None:
            raise EnvError(UNTOLD)
        return np.array([self._numbers.get(letter, UNKNOWN) for letter in seen.letter.tolist()], dtype=np.int64)

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """New ones are noted."""
        if episode.letters is None or bool((episode.letters < 0).any()):
            raise EnvError(UNTOLD)
        for letter in episode.letters.tolist():
            if letter not in self._numbers:
                self._numbers[letter] = len(self.letters)
                self.letters.append(letter)
        check_count(len(self))
        return np.array([self._numbers[letter] for letter in episode.letters.tolist()], dtype=np.int64)

    def name(self, letter: int) -> str:
        """Its name in the alphabet."""
        return self.alphabet.letter_name(self.letters[letter])

    def on(self, frames: Tensor | None) -> LetterBook:  # noqa: ARG002 - symbols are no observations
        """Itself."""
        return self

    def state_dict(self) -> dict[str, Any]:
        """The letters that occurred."""
        return {"letters": torch.tensor(self.letters, dtype=torch.int64)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with saved ones."""
        self.letters = state["letters"].tolist()
        self._numbers = {letter: number for number, letter in enumerate(self.letters)}


def check_count(count: int) -> None:
    """Raise `LimitError` where letters are too many."""
    if count > MAX_LETTERS:
        raise LimitError(
            f"there are more than {MAX_LETTERS} distinct symbols, and each would be a letter of the machine; tell "
            "fewer, or tell the task and learn what its symbols look like (--unknown grounding)"
        )
