"""What counts as one letter of an unknown machine, and letters that are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import EnvError, LimitError
from nrm.inference import Episode, Evidence, Hypothesis, learn_machine
from nrm.machines import Alphabet
from nrm.neural import (
    MAX_LETTERS,
    Grounded,
    GrounderFactory,
    ObservationTable,
    continuous_grounders,
    ground_and_infer,
    observation_table,
)
from nrm.tracking.memories import Transition
from nrm.tracking.recorder import RecordedEpisode

UNKNOWN = -1
"""The number of what was never recorded."""

NO_SYMBOLS = (
    "the symbols are to be given (info['letter']), and this environment does not; put the task on it with "
    "nrm.TaskEnv(env, machine, label), or learn symbols too: the method 'pure-learning', or "
    "nrm.tracking.unknown_machine() without symbols"
)


class SymbolIndex(ABC):
    """Numbers of letters, in the order in which they came: by default those of what was observed."""

    labelled = False
    """Whether letters are true symbols, which the environment gives."""
    continuous = False
    """Whether what is observed cannot be enumerated, so that letters are symbols that a grounder reads."""

    @abstractmethod
    def __len__(self) -> int:
        """How many letters there are so far."""

    @abstractmethod
    def find(self, seen: Transition) -> NDArray[np.int64]:
        """(envs,) the letters that a step showed; `UNKNOWN` where one was never recorded."""

    @abstractmethod
    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """(time,) the numbers of what an episode observed, new ones among them."""

    @abstractmethod
    def name(self, letter: int) -> str:
        """How people read a letter."""

    @abstractmethod
    def on(self, frames: Tensor | None) -> SymbolIndex:
        """The same letters in another environment, whose listed observations are `frames`."""

    def read(self, trace: Episode) -> Episode:
        """An episode with letters in place of the numbers of what it observed."""
        return trace

    def learn(
        self, traces: Sequence[Episode], values: NDArray[np.float64], states: int, noise: tuple[float, float]
    ) -> Hypothesis:
        """The machine of some episodes with numbers of what was observed, and indices of potentials `values`.

        What letters mean may be learned with it. `states`: most that it may have; `noise`: of rewards, and of labels.
        """
        return learn_machine(Evidence.of(traces, len(self), len(values), 0, *noise), states)

    def compact(self, used: NDArray[np.int64]) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Let go of all that was observed but what has these numbers; where each has moved, None where none has."""
        return None

    def state_dict(self) -> dict[str, Any]:
        """What numbers depend on."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027 - some have nothing to go on from
        """Go on from a saved state."""


class LabelledSymbols(SymbolIndex):
    """The letters of an alphabet that the environment gives, those that occurred so far."""

    labelled = True

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self._numbers: dict[int, int] = {}

    @property
    def letters(self) -> list[int]:
        """The letter of the alphabet that each number stands for."""
        return list(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, seen: Transition) -> NDArray[np.int64]:
        """By looking them up."""
        if seen.letter is None:
            raise EnvError(NO_SYMBOLS)
        return np.array([self._numbers.get(letter, UNKNOWN) for letter in seen.letter.tolist()], dtype=np.int64)

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """New ones are noted."""
        if episode.letters is None or bool((episode.letters < 0).any()):
            raise EnvError(NO_SYMBOLS)
        numbers = [self._numbers.setdefault(letter, len(self._numbers)) for letter in episode.letters.tolist()]
        if len(self) > MAX_LETTERS:
            raise LimitError(
                f"there are more than {MAX_LETTERS} distinct symbols, and each would be a letter of the machine; label "
                "fewer, or give the task and learn what its symbols look like (--method nrm)"
            )
        return np.array(numbers, dtype=np.int64)

    def name(self, letter: int) -> str:
        """Its name in the alphabet."""
        return self.alphabet.letter_name(self.letters[letter])

    def on(self, frames: Tensor | None) -> SymbolIndex:  # noqa: ARG002 - symbols are no observations
        """Itself."""
        return self

    def state_dict(self) -> dict[str, Any]:
        """The letters that occurred."""
        return {"letters": torch.tensor(self.letters, dtype=torch.int64)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with saved ones."""
        self._numbers = {letter: number for number, letter in enumerate(state["letters"].tolist())}


class ObservedSymbols(SymbolIndex):
    """The distinct observations that were recorded so far, as long as they are few.

    Beyond `MAX_LETTERS` of them none is met often enough, and letters become symbols that a grounder reads: they are
    learned together with the machine (`nrm.neural.continuous`). Until then all are symbol 0.
    """

    def __init__(
        self,
        frames: Tensor | None = None,
        blank: Tensor | None = None,
        make: GrounderFactory | None = None,
        seed: int = 0,
        table: ObservationTable | None = None,
    ) -> None:
        """`frames`: all observations, where they are listed; steps and episodes then hold their row numbers.

        `blank`: (0, …) no observations, but of the kind that will come, for saved states; `make`: makes grounders, by
        default those that fit; `seed`: of learning; `table`: the letters that there are already.
        """
        self._table = observation_table(frames, blank) if table is None else table
        self._make = make
        self._seed = seed
        self._rounds = 0
        self._read = np.zeros(0, dtype=np.int64)
        self.known: Grounded | None = None
        """What reads symbols, where observations cannot be enumerated and it was learned."""
        self.continuous = len(self._table) > MAX_LETTERS

    def __len__(self) -> int:
        if not self.continuous:
            return len(self._table)
        return 1 if self.known is None else self.known.hypothesis.letters

    @property
    def numbers(self) -> NDArray[np.int64] | None:
        """(frames,) the number of each, where they are listed."""
        return self._table.listed

    def find(self, seen: Transition) -> NDArray[np.int64]:
        """By looking them up, or by what the grounder says."""
        shown = seen.observation.cpu()
        if not self.continuous:
            return self._table.find(shown.numpy(), UNKNOWN)
        return self._symbols(self._table.shown(shown))

    def _symbols(self, observations: Tensor) -> NDArray[np.int64]:
        """(n,) what the grounder reads of observations (n, …)."""
        return np.zeros(len(observations), dtype=np.int64) if self.known is None else self.known.read(observations)

    def add(self, episode: RecordedEpisode) -> NDArray[np.int64]:
        """New ones are noted."""
        numbers = self._table.record(episode.observations)
        self.continuous = self.continuous or len(self._table) > MAX_LETTERS
        return numbers

    def read(self, trace: Episode) -> Episode:
        """As it is, or with the symbols that the grounder reads."""
        return replace(trace, seen=self._letters()[trace.seen]) if self.continuous else trace

    def learn(
        self, traces: Sequence[Episode], values: NDArray[np.float64], states: int, noise: tuple[float, float]
    ) -> Hypothesis:
        """By state merging; where observations cannot be enumerated, in turns with the grounder."""
        if not self.continuous:
            return super().learn(traces, values, states, noise)
        frames = torch.from_numpy(self._table[:])
        make = self._make or continuous_grounders(frames.shape[1:])
        self._rounds += 1
        seed = self._seed + 1000 * self._rounds
        found = ground_and_infer(frames, traces, values, states, make, seed, self.known, noise)
        self.known, self._read = found, np.zeros(0, dtype=np.int64)
        return found.hypothesis

    def compact(self, used: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Forget all observations but those with these numbers, where they are too many; where each has moved."""
        if not self.continuous or len(self._table) < 1.25 * len(np.unique(used)) + MAX_LETTERS:
            return None
        letters, moved = self._letters(), self._table.compact(used)
        self._read = letters[moved >= 0]
        return moved

    def _letters(self) -> NDArray[np.int64]:
        """(observations,) the symbol of each."""
        fresh = torch.from_numpy(self._table[len(self._read) :])
        self._read = np.append(self._read, self._symbols(fresh))
        return self._read

    def name(self, letter: int) -> str:
        """The observation itself, where it is short; where they cannot be enumerated, the number of the symbol."""
        if self.continuous:
            return f"symbol {letter}" if letter else "anything else"
        return observation_name(self._table[letter], letter)

    def on(self, frames: Tensor | None) -> SymbolIndex:
        """The same letters, listed or not."""
        table = observation_table(frames, rows=self._table[:], grows=self.continuous)
        other = ObservedSymbols(make=self._make, seed=self._seed, table=table)
        other.continuous, other.known = self.continuous, self.known
        return other

    def state_dict(self) -> dict[str, Any]:
        """The observations, and what reads symbols: None until it was learned, because its shapes come with it."""
        known = self.known
        return {
            "observations": self._table.saved(),
            "endless": self.continuous,
            "rounds": self._rounds,
            "symbols": 0 if known is None else known.hypothesis.letters,
            "explained": [] if known is None else [known.explained, known.held_out],
            "grounder": None if known is None else dict(known.grounder.state_dict()),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with saved ones."""
        self._table = self._table.loaded(state["observations"])
        self.continuous, self._rounds = state.get("endless", self.continuous), state.get("rounds", 0)
        self.known, self._read = None, np.zeros(0, dtype=np.int64)
        if state.get("symbols"):
            grounder = (self._make or continuous_grounders(self._table[:].shape[1:]))(state["symbols"])
            grounder.load_state_dict(state["grounder"])
            self.known = Grounded(grounder.eval(), Hypothesis.blank(state["symbols"], 0), *state["explained"])


def observation_name(observation: NDArray[Any], letter: int) -> str:
    """How people read an observation: itself where it is short, else its number."""
    if observation.size > 4:
        return f"observation {letter}"
    return "(" + ", ".join(f"{value:g}" for value in observation.ravel().tolist()) + ")"
