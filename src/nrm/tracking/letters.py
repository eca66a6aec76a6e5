"""What counts as one letter of an unknown machine: a distinct observation, or a symbol that is told."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import LimitError, WorldError
from nrm.machines import Alphabet
from nrm.neural.frames import FrameTable
from nrm.tracking.memories import Seen
from nrm.tracking.recorder import RecordedEpisode

MOST_LETTERS = 1024
"""Distinct observations up to which each is a letter of its own."""
UNKNOWN = -1
"""The number of what was never recorded."""

UNTOLD = (
    "the symbols are to be told (info['letter']), and this environment does not; put the task on it with "
    "nrm.TaskEnv(env, machine, label), or learn symbols too: the method 'both', nrm.unknown_machine() without symbols"
)


class LetterBook(Protocol):
    """Numbers of letters, in the order in which they came."""

    told: bool
    """Whether letters are true symbols, which the environment tells."""

    def __len__(self) -> int:
        """How many letters there are so far."""

    def find(self, seen: Seen) -> NDArray[np.int64]:
        """(envs,) the letters that a step showed; `UNKNOWN` where one was never recorded."""

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """(time,) the letters of an episode, new ones among them."""

    def name(self, letter: int) -> str:
        """How people read a letter."""

    def on(self, frames: Tensor | None) -> LetterBook:
        """The same letters in another world, whose listed observations are `frames`."""

    def state_dict(self) -> dict[str, Any]:
        """What numbers depend on."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""


class ListedLetters:
    """The distinct ones of a world's listed observations: all letters are known from the beginning."""

    told = False

    def __init__(self, frames: Tensor, known: FrameTable | None = None) -> None:
        """`known`: the letters that there are already, for other frames of the same world."""
        self._table = known or FrameTable()
        before = len(self._table)
        numbers = self._table.add(frames.numpy())
        self.numbers = numbers if known is None else np.where(numbers < before, numbers, UNKNOWN)
        """(frames,) the letter of each."""
        if known is None:
            _check_count(len(self._table))

    def __len__(self) -> int:
        return len(self._table)

    def find(self, seen: Seen) -> NDArray[np.int64]:
        """By row number."""
        found: NDArray[np.int64] = self.numbers[seen.observation.numpy()]
        return found

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """By row number: none is new."""
        found: NDArray[np.int64] = self.numbers[episode.observations]
        return found

    def name(self, letter: int) -> str:
        """The observation itself, where it is short."""
        return observation_name(self._table[letter], letter)

    def on(self, frames: Tensor | None) -> LetterBook:
        """By the row numbers of other frames."""
        if frames is None:
            return SeenLetters(FrameTable(self._table[:]))
        return ListedLetters(frames, FrameTable(self._table[:]))

    def state_dict(self) -> dict[str, Any]:
        """Nothing: the world lists them."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Nothing to do."""


class SeenLetters:
    """The distinct observations that were recorded so far, in a world that lists none."""

    told = False

    def __init__(self, table: FrameTable | None = None, blank: Tensor | None = None) -> None:
        """`blank`: (0, …) no observations, but of the kind that will come, for saved states."""
        self._table = FrameTable() if table is None else table
        self._blank = torch.empty(0) if blank is None else blank

    def __len__(self) -> int:
        return len(self._table)

    def find(self, seen: Seen) -> NDArray[np.int64]:
        """By looking them up."""
        return self._table.find(seen.observation.numpy(), UNKNOWN)

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """New ones are noted, as long as they are few."""
        numbers = self._table.add(episode.observations)
        _check_count(len(self._table))
        return numbers

    def name(self, letter: int) -> str:
        """The observation itself, where it is short."""
        return observation_name(self._table[letter], letter)

    def on(self, frames: Tensor | None) -> LetterBook:
        """The same observations, listed or not."""
        table = FrameTable(self._table[:]) if len(self) else FrameTable()
        return SeenLetters(table, self._blank) if frames is None else ListedLetters(frames, table)

    def state_dict(self) -> dict[str, Any]:
        """The observations."""
        return {"observations": torch.from_numpy(self._table[:].copy()) if len(self) else self._blank}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with saved ones."""
        saved = state["observations"]
        self._table = FrameTable(saved.numpy()) if len(saved) else FrameTable()


class ToldLetters:
    """The letters of an alphabet that the environment tells, those that occurred so far."""

    told = True

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.letters: list[int] = []
        """The letter of the alphabet that each number stands for."""
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.letters)

    def find(self, seen: Seen) -> NDArray[np.int64]:
        """By looking them up."""
        if seen.letter is None:
            raise WorldError(UNTOLD)
        return np.array([self._numbers.get(letter, UNKNOWN) for letter in seen.letter.tolist()], dtype=np.int64)

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """New ones are noted."""
        if episode.letters is None or bool((episode.letters < 0).any()):
            raise WorldError(UNTOLD)
        for letter in episode.letters.tolist():
            if letter not in self._numbers:
                self._numbers[letter] = len(self.letters)
                self.letters.append(letter)
        _check_count(len(self))
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


def _check_count(count: int) -> None:
    if count > MOST_LETTERS:
        raise LimitError(
            f"there are more than {MOST_LETTERS} distinct observations, and each would be a letter of the machine. "
            "Round or downsample them; where they are without end, tell the symbols (--unknown machine), or tell the "
            "task and learn what its symbols look like (--unknown grounding)"
        )


def observation_name(observation: NDArray[Any], letter: int) -> str:
    """How people read an observation: itself where it is short, else its number."""
    if observation.size > 4:
        return f"observation {letter}"
    return "(" + ", ".join(f"{value:g}" for value in observation.ravel().tolist()) + ")"
