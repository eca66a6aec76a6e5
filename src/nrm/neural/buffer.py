"""Recorded episodes: what was observed, and what is known of the potential of the machine after each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from nrm.aliases import BoolArray, FloatArray, IntArray
from nrm.errors import EpisodeError, listing
from nrm.inference import Episode as Episode
from nrm.inference import joined, split
from nrm.machines import LevelCodec, MachineLike, TaskSet, as_machine
from nrm.neural.episodes import EpisodeBatch, ObservationTable

UNKNOWN = -1
"""In place of the index of a potential that is not known."""


class EvidenceTable:
    """The distinct evidence of some episodes, by code.

    Evidence is a weight for each potential: how probable that potential makes what was seen. An exact potential is
    one-hot, an unknown one all ones, a verdict is the set of the potentials that it allows, and what a judge says who
    errs is a row of a confusion matrix. The first codes are the potentials themselves.
    """

    def __init__(self, potentials: int) -> None:
        self.potentials = potentials
        self._further: dict[tuple[float, ...], int] = {}

    def __len__(self) -> int:
        return self.potentials + len(self._further)

    @property
    def rows(self) -> FloatArray | None:
        """(codes, potentials) the weights of each code; None while all codes are exact potentials."""
        further = np.array(list(self._further)).reshape(-1, self.potentials)
        return np.concatenate([np.eye(self.potentials), further]) if len(further) else None

    def codes(self, weights: ArrayLike, place: str) -> NDArray[np.int64]:
        """(time,) the codes of weights (time, potentials); new ones are added. Errors name the `place`."""
        given = np.asarray(weights, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.potentials:
            raise EpisodeError(f"{place}: evidence has shape {given.shape}; (steps, {self.potentials}) is needed")
        wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)).all(1))
        if wrong.size:
            row = given[wrong[0]].tolist()
            raise EpisodeError(f"{place}, step {wrong[0]} (from 0): evidence is finite and not negative, not {row}")
        rows, first, which = np.unique(given, axis=0, return_index=True, return_inverse=True)
        codes = np.zeros(len(rows), dtype=np.int64)
        for row in np.argsort(first).tolist():
            codes[row] = self._code(tuple(rows[row].tolist()))
        return codes[which.ravel()]

    def _code(self, weights: tuple[float, ...]) -> int:
        if sum(weights) == max(weights, default=0.0) == 1.0:
            return weights.index(1.0)
        return self._further.setdefault(weights, len(self))


def mistaken(allowed: BoolArray, noise: float, answers: int, place: str) -> FloatArray:
    """(time, potentials) the evidence of sets of potentials (time, potentials), each wrong with probability `noise`.

    `answers`: how many could be given; a wrong one is any of the others, equally often. What is unknown stays so.
    """
    if not 0 <= noise < 1:
        raise EpisodeError(f"{place}: the noise is a probability below 1, not {noise:g}")
    weights = np.where(allowed, 1 - noise, noise / max(answers - 1, 1))
    return np.where(allowed.all(1, keepdims=True), 1.0, weights)


def accepting_potentials(accepting: BoolArray, level_of_state: IntArray) -> BoolArray | None:
    """(potentials,) whether accepting states have each; None where one is shared with a state that does not accept."""
    shared = np.zeros((2, int(level_of_state.max()) + 1), dtype=bool)
    shared[accepting.astype(int), level_of_state] = True
    return None if (shared[0] & shared[1]).any() else shared[1]


class EpisodeBuffer:
    """Episodes of any length.

    Equal observations are stored once, in a table that several buffers can share. The label of a step is the index of
    its potential, or a code for uncertain evidence, see `EvidenceTable`.
    """

    def __init__(
        self,
        levels: ArrayLike,
        initial: float | None = None,
        table: ObservationTable | None = None,
        accepting: ArrayLike | None = None,
        episodes: Iterable[Episode] = (),
        evidence: EvidenceTable | None = None,
    ) -> None:
        """`levels`: the machine's potentials, ascending; `initial`: that of its initial state, to read rewards.

        `table`: of observations, when it is not this buffer's alone. `accepting`: (potentials,) which of them accepting
        states have, and no others, to read verdicts. `episodes`: the first ones, with numbers of the table, and with
        codes of `evidence`.
        """
        self.codec = LevelCodec(levels, initial)
        self.accepting = None if accepting is None else np.asarray(accepting, dtype=bool)
        self._evidence = EvidenceTable(len(self.codec.levels)) if evidence is None else evidence
        self.table = ObservationTable() if table is None else table
        self._episodes = list(episodes)

    @classmethod
    def for_tasks(cls, tasks: TaskSet, table: ObservationTable | None = None) -> EpisodeBuffer:
        """An empty buffer for episodes of many tasks; each says which one it is of."""
        begin = np.unique(tasks.level_of_state[tasks.initial])
        # Tasks that begin at different potentials can be judged, but their rewards do not tell the potential.
        initial = float(tasks.levels[begin[0]]) if len(begin) == 1 else None
        accepting = accepting_potentials(tasks.union.accepting, tasks.level_of_state)
        return cls(tasks.levels, initial, table, accepting)

    @classmethod
    def for_machine(cls, machine: MachineLike) -> EpisodeBuffer:
        """An empty buffer for episodes of a machine, or of a task."""
        known = as_machine(machine)
        codec = LevelCodec.of(known)
        return cls(codec.levels, codec.initial, accepting=accepting_potentials(known.accepting, known.level_of_state))

    def __len__(self) -> int:
        return len(self._episodes)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self._episodes)

    def __getitem__(self, number: int) -> Episode:
        return self._episodes[number]

    @property
    def levels(self) -> NDArray[np.float64]:
        """The machine's potentials, ascending."""
        levels: NDArray[np.float64] = self.codec.levels
        return levels

    @property
    def evidence(self) -> NDArray[np.float64] | None:
        """(codes, potentials) the weights behind the labels; None where all labels are exact potentials."""
        return self._evidence.rows

    @property
    def distinct(self) -> int:
        """Number of distinct observations."""
        return len(self._seen()) if self._episodes else 0

    @property
    def steps(self) -> int:
        """Number of steps of all episodes."""
        return sum(len(episode) for episode in self._episodes)

    def observations(self, seen: NDArray[np.int64]) -> NDArray[Any]:
        """(n, …) some of the distinct observations, by the numbers (n,) that `Episode.seen` uses."""
        return self.table[seen]

    def _seen(self) -> NDArray[np.int64]:
        """(distinct,) the numbers of all observations that were made, in the order of their first occurrence."""
        numbers, first = np.unique(np.concatenate([one.seen for one in self._episodes]), return_index=True)
        return numbers[np.argsort(first)]

    def add(
        self,
        observations: ArrayLike,
        *,
        rewards: ArrayLike | None = None,
        levels: ArrayLike | Sequence[int | None] | None = None,
        verdict: bool | None = None,
        evidence: ArrayLike | None = None,
        noise: float = 0.0,
        symbols: ArrayLike | None = None,
        task: int | None = None,
    ) -> None:
        """Add an episode: observations (time, …), and one of `rewards`, `levels`, `verdict` and `evidence`.

        Row t is the observation that came with reward t; the observation of the reset is left out. `symbols`: the true
        letters (time,), for evaluation only. `task`: the number of its task, if there are many.

        `rewards`: (time,), NaN if unknown. `levels`: (time,) indices of potentials, -1 or None if unknown. `verdict`:
        whether the whole episode satisfies the task, if nothing else is known. `evidence`: (time, potentials) the
        likelihood of each potential. `noise`: the probability that a reward, index or verdict is wrong.
        """
        place, shown = f"episode {len(self)}", np.asarray(observations)
        known = {"rewards": rewards, "levels": levels, "verdict": verdict, "evidence": evidence}
        given = [name for name, value in known.items() if value is not None]
        if len(given) != 1:
            raise EpisodeError(f"{place}: give one of {listing(known)}, not {listing(given) or 'none of them'}")
        steps = len(shown) if shown.ndim else 0
        labels = self._labels(given[0], known[given[0]], steps, noise, place)
        if steps != len(labels):
            raise EpisodeError(f"{place}: {steps} observations but {len(labels)} labels")
        if not steps:
            raise EpisodeError(f"{place} has no steps")
        true = None if symbols is None else np.asarray(symbols, dtype=np.int64)
        if true is not None and true.shape != labels.shape:
            raise EpisodeError(f"{place}: {true.size} true symbols for {len(labels)} steps")
        self._episodes.append(Episode(self.table.add(shown, place), labels, true, task))

    def batch(self, distinct: bool = True) -> EpisodeBatch:
        """All episodes as tensors.

        With `distinct`, equal observations occur once and are gathered afterwards, which is exact; else each step
        has its own.
        """
        self._check_some()
        seen = self._seen()
        rows = self.table[seen]
        if rows.dtype == np.float64 and np.abs(rows).max(initial=0.0) < np.finfo(np.float32).max:
            rows = rows.astype(np.float32)
        place = np.zeros(len(self.table), dtype=np.int64)
        place[seen] = np.arange(len(seen))
        episodes = [replace(episode, seen=place[episode.seen]) for episode in self._episodes]
        evidence = None if self.evidence is None else torch.from_numpy(self.evidence)
        batch = EpisodeBatch.of(torch.from_numpy(rows), episodes, evidence)
        if not distinct:
            return batch._replace(observations=batch.observations[batch.seen[batch.mask]], seen=batch.numbered)
        return batch

    def symbols(self) -> NDArray[np.int64] | None:
        """The true letters of all steps one after the other, or None unless every episode has them."""
        self._check_some()
        known = [episode.symbols for episode in self._episodes if episode.symbols is not None]
        return np.concatenate(known) if len(known) == len(self) else None

    def rarity(self) -> NDArray[np.float64]:
        """(episodes,) how rare the rewards of each episode are: one over how many episodes show each, summed."""
        shown = [self._changes(episode.levels) for episode in self._episodes]
        counts = Counter(change for changes in shown for change in changes)
        return np.array([sum(1.0 / counts[change] for change in changes) for changes in shown])

    def _changes(self, levels: NDArray[np.int64]) -> set[tuple[int, int]]:
        """The changes of potential that an episode shows; none is one of its own kind."""
        changes = {(int(levels[step]), int(levels[step + 1])) for step in np.flatnonzero(np.diff(levels))}
        return changes | {(-1, int(levels[0]))}

    def split(self, fraction: float, generator: torch.Generator) -> tuple[list[int], list[int]]:
        """Numbers of the episodes to learn from, and of those held out; at least one of the first kind."""
        self._check_some()
        order = torch.randperm(len(self), generator=generator).tolist()
        held = min(round(fraction * len(self)), len(self) - 1)
        return sorted(order[held:]), sorted(order[:held])

    def _check_some(self) -> None:
        if not self._episodes:
            raise EpisodeError("the buffer is empty; add episodes first")

    def _labels(self, name: str, given: Any, steps: int, noise: float, place: str) -> NDArray[np.int64]:
        """(time,) the codes of what is known of an episode."""
        if name == "evidence":
            return self._evidence.codes(given, place)
        answers = len(self.levels)
        if name == "verdict":
            allowed, answers = self._judged(bool(given), steps, place), 2
        elif name == "levels":
            labels = self._indices(given, place)
            if not noise and (labels != UNKNOWN).all():
                return labels
            allowed = (labels[:, None] == UNKNOWN) | (labels[:, None] == np.arange(answers))
        else:
            if not noise and not np.isnan(np.asarray(given, dtype=np.float64)).any():
                return self.codec.encode(given, place)
            allowed = self.codec.possible(given, place)
        return self._evidence.codes(mistaken(allowed, noise, answers, place), place)

    def _judged(self, verdict: bool, steps: int, place: str) -> NDArray[np.bool_]:
        """(time, potentials) which potentials a verdict on the whole episode allows."""
        if self.accepting is None:
            raise EpisodeError(
                f"{place}: the potentials {self.codec} do not tell whether an episode satisfies its task; take "
                "reward='acceptance', and EpisodeBuffer.for_machine or for_tasks"
            )
        allowed = np.ones((steps, len(self.levels)), dtype=bool)
        allowed[-1:] = self.accepting == verdict
        return allowed

    def _indices(self, levels: ArrayLike, place: str) -> NDArray[np.int64]:
        given = np.asarray(levels)
        if given.dtype.kind not in "biu":
            given = np.nan_to_num(given.astype(np.float64), nan=UNKNOWN)
        labels = given.astype(np.int64)
        wrong = np.flatnonzero((labels < UNKNOWN) | (labels >= len(self.levels)))
        if wrong.size:
            raise EpisodeError(
                f"{place}, step {int(wrong[0])} (from 0): potential index {int(labels[wrong[0]])}; the machine's "
                f"potentials are 0 to {len(self.levels) - 1}: {self.codec}, and -1 is unknown"
            )
        return labels


def packed(episodes: Sequence[Episode]) -> dict[str, Tensor]:
    """Episodes one after the other, for a file."""
    return dict(zip(("letters", "levels", "lengths"), map(torch.from_numpy, joined(episodes)), strict=True))


def unpacked(saved: dict[str, Tensor]) -> list[Episode]:
    """What `packed` gave."""
    return split(*(saved[name].numpy() for name in ("letters", "levels", "lengths")))
