"""Learning the machine between rollouts: from the episodes of somebody who acts, whenever one refutes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.errors import FileError
from nrm.inference import (
    Episode,
    Evidence,
    Hypothesis,
    LabelNoiseTally,
    Refutation,
    Tally,
    TooManyStatesError,
    agreement,
    explained,
    following,
    joined,
    renumbered,
    split,
)
from nrm.machines import Alphabet, LevelTable, MachineLike, MooreMachine, as_machine
from nrm.neural import UnexplainedError, packed, unpacked
from nrm.settings import NoiseSettings
from nrm.tracking.hypothesis_memory import HypothesisBelief, HypothesisMemory
from nrm.tracking.letters import LabelledSymbols, ObservedSymbols, SymbolIndex
from nrm.tracking.recorder import RecordedEpisode

Judge = Callable[[Hypothesis, NDArray[np.float64]], bool | None]
"""Whether a machine with these potentials is the task's, as far as episodes can show; None where nobody knows."""
MAX_KEPT = 2000
"""Most episodes that the machine is learned from. Those that refuted one are kept longest."""
SETTLED = 1000
"""Episodes without a surprise after which those that teach nothing are not kept any more."""


@dataclass(frozen=True)
class InferenceConfig(NoiseSettings):
    """How a machine is inferred from rewards during training."""

    section = "inference."
    usual: ClassVar = {"max_states": 16}


@dataclass(frozen=True)
class Refuting:
    """The episode that refuted the machine before."""

    letters: tuple[int, ...]
    """What it read, up to the step that refuted."""
    levels: tuple[float, ...]
    """The potentials that it showed."""
    step: int
    """The step that was impossible, counting from 0."""
    expected: float
    """The potential that the machine said there."""
    shown: float


@dataclass(frozen=True)
class Version:
    """One machine, as it was learned. All by symbol: those of letters alike, 0 of those that do nothing."""

    episode: int
    """How many episodes were done."""
    levels: tuple[float, ...]
    """(states,) the potential of each state, from 0 at the beginning of an episode."""
    table: tuple[tuple[int, ...], ...]
    """(states, symbols) the next state."""
    seen: tuple[tuple[int, ...], ...]
    """(states, symbols) how often each transition was seen; those never seen are assumed."""
    symbols: tuple[int, ...]
    """(letters,) the symbol of each letter."""
    numbers: tuple[int, ...]
    """(states,) the numbers by which the policy knows them."""
    refuted_by: Refuting | None
    """What refuted the machine before; None where it was only looked at anew."""
    right: bool | None
    """Whether it is the task's, as far as episodes can show; None where nobody knows."""

    @classmethod
    def of(
        cls,
        episode: int,
        known: Hypothesis,
        numbers: NDArray[np.int64],
        values: NDArray[np.float64],
        refuted: tuple[Episode, Refutation] | None,
        right: bool | None,
    ) -> Version:
        """From a machine that was just learned."""
        table, seen = known.symbol_table()
        why = None
        if refuted is not None:
            trace, found = refuted
            rows = slice(0, found.step + 1)
            shown = tuple(values[trace.levels[rows]].tolist())
            said = float(values[found.expected])
            why = Refuting(tuple(trace.seen[rows].tolist()), shown, found.step, said, float(values[found.shown]))
        return cls(
            episode,
            tuple(values[known.levels].tolist()),
            tuple(map(tuple, table.tolist())),
            tuple(map(tuple, seen.tolist())),
            tuple(known.symbols.tolist()),
            tuple(numbers.tolist()),
            why,
            right,
        )

    def machine(self) -> MooreMachine:
        """As a machine over its symbols."""
        levels = np.array(self.levels)
        zeros = np.zeros_like(np.array(self.table))
        known = Hypothesis(np.array(self.table), np.arange(len(levels)), zeros, np.arange(len(self.table[0])))
        return known.machine(levels)

    def to_json(self) -> Json:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Json) -> Version:
        """What `to_json` wrote."""
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise FileError(f"a learned machine is damaged: {error}") from None


def found_at(versions: Sequence[Version]) -> int | None:
    """The episode from which on all machines were right; None where the last one is not, or nobody knows."""
    episode = None
    for version in reversed(versions):
        if not version.right:
            break
        episode = version.episode
    return episode


class MachineLearning:
    """The inference of a machine during training: its episodes, the present machine, and when to infer again."""

    def __init__(
        self,
        letters: SymbolIndex,
        config: InferenceConfig | None = None,
        judge: Judge | None = None,
        device: torch.device | None = None,
    ) -> None:
        """`judge`: for evaluation only, looks at every new machine; `device`: where the policy is."""
        self.config = config or InferenceConfig()
        self.letters = letters
        self.memory = HypothesisMemory(letters, self.config.max_states, not self.config.reward_noise, device)
        if self.config.label_noise:
            noise = self.config.reward_noise, self.config.label_noise
            self.memory = HypothesisBelief(letters, self.config.max_states, *noise, device=device)
        self.levels = LevelTable()
        self.versions: list[Version] = []
        """Every machine there was, with what refuted the one before."""
        self.note = ""
        """Why the present machine does not explain everything; empty where it does."""
        self.episodes = 0
        """How many episodes were looked at."""
        self.surprised = 0
        """How many there were when the last one refuted a machine."""
        self._judge = judge
        self._recent: list[Episode] = []
        self._kept: list[Episode] = []
        self._telling: list[bool] = []
        self._tally = Tally(self.hypothesis)
        self._refuted: tuple[Episode, Refutation] | None = None
        self._learned = 0
        self._review = 100

    @property
    def hypothesis(self) -> Hypothesis:
        """The present machine."""
        return self.memory.hypothesis

    @property
    def state_levels(self) -> list[float]:
        """The potential of each state, relative to the start of an episode."""
        levels: list[float] = self.memory.values[self.hypothesis.levels].tolist()
        return levels

    @property
    def settled(self) -> bool:
        """Whether no episode has contradicted the machine for long."""
        return self.episodes - self.surprised >= SETTLED

    def explained(self) -> float | None:
        """The share of recent episodes that the machine explains; None before the first machine."""
        return explained(self.hypothesis, self._evidence(self._recent)) if self.versions and self._recent else None

    def add(self, episodes: Iterable[RecordedEpisode]) -> Version | None:
        """Add finished episodes and infer again if needed; returns the machine if it changed."""
        known = self.letters.continuous
        traces = [self._read(number, episode) for number, episode in enumerate(episodes, self.episodes + 1)]
        if not traces:
            return None
        if self.letters.continuous != known:
            self._begin_anew()
        self.episodes += len(traces)
        evidence = self._evidence(traces)
        found = self._tally.add(evidence)
        if found is not None:
            self.surprised = self.episodes
            read = split(evidence.letters, evidence.levels, evidence.lengths)[found.episode]
            self._refuted = self._refuted or (read, found)
        self._recent = [*self._recent, *traces][-100:]
        self._keep(traces, None if found is None else found.episode)
        reviews = self.episodes >= self._review
        spacing = self.episodes // 25 if not self.letters.continuous else max(self.episodes // 2, 40)
        due = self.episodes - self._learned >= max(1, spacing)
        if not (reviews or (self._refuted is not None and due)):
            return None
        while self._review <= self.episodes:
            self._review *= 2
        return self._learn()

    def _begin_anew(self) -> None:
        """Observations turn out to be continuous: letters are symbols from now on, none of which is known yet."""
        self.memory.follow(Hypothesis.blank(1, 0), self.memory.numbers[:1], self.levels.values)
        self._tally = Tally(self.hypothesis)
        self.versions.clear()
        self._refuted = None
        self._review = max(1, self.episodes)

    def _read(self, number: int, episode: RecordedEpisode) -> Episode:
        levels = self.levels.encode(episode.rewards, f"episode {number} since acting began")
        return Episode(self.letters.add(episode), levels)

    def _keep(self, traces: Sequence[Episode], telling: int | None) -> None:
        for place, trace in enumerate(traces):
            if place == telling or not self.settled:
                self._kept.append(trace)
                self._telling.append(place == telling)
        surplus = len(self._kept) - (400 if self.letters.continuous else MAX_KEPT)
        if surplus > 0:
            order = sorted(range(len(self._kept)), key=lambda place: (self._telling[place], place))
            dropped = set(order[:surplus])
            kept = [place for place in range(len(self._kept)) if place not in dropped]
            self._kept = [self._kept[place] for place in kept]
            self._telling = [self._telling[place] for place in kept]
        moved = self.letters.compact(joined([*self._kept, *self._recent])[0])
        if moved is not None:
            self._kept, self._recent = (
                [replace(trace, seen=moved[trace.seen]) for trace in some] for some in (self._kept, self._recent)
            )

    def _evidence(self, traces: Sequence[Episode]) -> Evidence:
        # A grounder misreads now and then, so that a single episode refutes little.
        reward_noise = max(self.config.reward_noise, 0.01) if self.letters.continuous else self.config.reward_noise
        read = list(map(self.letters.read, traces))
        return Evidence.of(read, len(self.letters), len(self.levels), 0, reward_noise, self.config.label_noise)

    def _learn(self) -> Version | None:
        old, refuted = self.hypothesis, self._refuted
        self._learned, self._refuted = self.episodes, None
        if not self._kept:
            return None
        before = following(old, self._evidence(self._kept)).states
        try:
            noise = self.config.reward_noise, self.config.label_noise
            new = self.letters.learn(self._kept, self.levels.values, self.config.max_states, noise)
        except (TooManyStatesError, UnexplainedError) as error:
            # The old machine goes on: it is wrong now and then, and what is to come may show why.
            self.note = str(error)
            return None
        self.note = ""
        after = following(new, self._evidence(self._kept)).states
        shared = agreement(before, after, old.states, new.states)
        numbers = renumbered(shared, self.memory.numbers, self.config.max_states)
        self.memory.follow(new, numbers, self.levels.values)
        self._tally = self._new_tally(new)
        if self.versions and new.same_as(old):
            return None
        right = None if self._judge is None else self._judge(new, self.levels.values)
        version = Version.of(self.episodes, new, numbers, self.levels.values, refuted, right)
        self.versions.append(version)
        return version

    def _new_tally(self, known: Hypothesis) -> Tally:
        if not self.config.label_noise or not self._kept:  # who only acts has kept none
            return Tally(known)
        return LabelNoiseTally(known, self._evidence(self._kept))

    def state_dict(self) -> dict[str, Any]:
        """Everything that learning goes on from."""
        refuted = None
        if self._refuted is not None:
            trace, found = self._refuted
            refuted = [[trace.seen.tolist(), trace.levels.tolist()], list(found)]
        return {
            "book": self.letters.state_dict(),
            "kept": packed(self._kept),
            "recent": packed(self._recent),
            "telling": torch.tensor(self._telling, dtype=torch.bool),
            "values": self.levels.values.tolist()[1:],
            "machine": None if not self.episodes else self._machine_state(),
            "refuted": refuted,
            "versions": [version.to_json() for version in self.versions],
            "note": self.note,
            "counters": [self.episodes, self.surprised, self._learned, self._review],
        }

    def weights(self) -> dict[str, Any]:
        """What acting needs of that: the machine and its letters, and no episodes."""
        nothing, untold = packed([]), torch.zeros(0, dtype=torch.bool)
        return {**self.state_dict(), "kept": nothing, "recent": nothing, "telling": untold, "refuted": None}

    def _machine_state(self) -> dict[str, Any]:
        known = self.hypothesis
        arrays = {
            **{name: getattr(known, name) for name in ("table", "levels", "seen", "symbols")},
            "numbers": self.memory.numbers,
            **self._tally.counts(),
        }
        return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.letters.load_state_dict(state["book"])
        self._kept = unpacked(state["kept"])
        # Runs that were saved before there was this have none.
        self._recent = unpacked(state["recent"]) if "recent" in state else []
        self._telling = state["telling"].tolist()
        self.levels = LevelTable([0.0, *state["values"]])
        self.versions = [Version.from_json(version) for version in state["versions"]]
        self.note = state["note"]
        self.episodes, self.surprised, self._learned, self._review = state["counters"]
        if state["machine"] is not None:
            saved = {name: value.numpy() for name, value in state["machine"].items()}
            known = Hypothesis(*(saved[name] for name in ("table", "levels", "seen", "symbols")))
            self.memory.follow(known, saved["numbers"], self.levels.values)
            self._tally = self._new_tally(known)
            self._tally.load(saved)
        self._refuted = None
        if state["refuted"] is not None:
            (seen, shown), found = state["refuted"]
            self._refuted = Episode(np.array(seen), np.array(shown)), Refutation(*found)


def unknown_machine(
    states: int = 16,
    *,
    symbols: MachineLike | Alphabet | None = None,
    reward_noise: float = 0.0,
    label_noise: float = 0.0,
) -> MachineLearning:
    """An unknown machine to be inferred while an agent acts, for wrappers and your own loops.

    `states`: maximum number of states, the width of the belief. `symbols`: the alphabet, or a machine or task over it,
    if the environment provides symbols in `info["letter"]`, as `nrm.TaskEnv` does; otherwise each distinct observation
    is an input. `reward_noise`, `label_noise`: as in `InferenceConfig`.
    """
    config = InferenceConfig(max_states=states, reward_noise=reward_noise, label_noise=label_noise)
    if symbols is None:
        return MachineLearning(ObservedSymbols(), config)
    alphabet = symbols if isinstance(symbols, Alphabet) else as_machine(symbols).alphabet
    return MachineLearning(LabelledSymbols(alphabet), config)
