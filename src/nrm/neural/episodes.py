"""Episodes as tensors: distinct observations once, and which of them was seen when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nrm.errors import EpisodeError
from nrm.inference import Episode
from nrm.neural.emission import Values, as_tensor


class EpisodeBatch(NamedTuple):
    """Episodes side by side. Padding exists only in `seen` and `levels`, and is never grounded."""

    observations: Tensor
    """(n, …) the observations that occur, each to be grounded once."""
    seen: Tensor
    """(batch, time) which observation was made; 0 at padding."""
    levels: Tensor
    """(batch, time) what is known of the potential after the step: its index, or a code of `evidence`; 0 at padding."""
    lengths: Tensor
    """(batch,) steps of each episode."""
    tasks: Tensor
    """(batch,) the number of each episode's task; -1 where nobody says."""
    evidence: Tensor | None = None
    """(codes, potentials) the weights behind the codes in `levels`; None where all of them are exact potentials."""

    @classmethod
    def of(cls, observations: Tensor, episodes: Sequence[Episode], evidence: Tensor | None = None) -> EpisodeBatch:
        """Episodes that saw observations (n, …), by their numbers."""
        numbers = [episode.task for episode in episodes if episode.task is not None]
        if len(numbers) not in (0, len(episodes)):
            raise EpisodeError(
                f"{len(numbers)} of {len(episodes)} episodes say which task they are of; all must, or none"
            )
        seen, levels = (
            pad_sequence([torch.as_tensor(part, dtype=torch.int64) for part in parts], batch_first=True)
            for parts in ([episode.seen for episode in episodes], [episode.levels for episode in episodes])
        )
        lengths = torch.tensor([len(episode) for episode in episodes])
        return cls(observations, seen, levels, lengths, torch.tensor(numbers or [-1] * len(episodes)), evidence)

    @property
    def mask(self) -> Tensor:
        """(batch, time) true where a step is real."""
        return step_mask(self.lengths, self.seen.shape[1])

    @property
    def steps(self) -> int:
        """How many real steps there are."""
        return int(self.lengths.sum())

    @property
    def numbered(self) -> Tensor:
        """(batch, time) the number of each real step, episode by episode; 0 at padding."""
        mask = self.mask
        numbers = torch.zeros_like(self.seen)
        numbers[mask] = torch.arange(self.steps, device=self.seen.device)
        return numbers

    def rows(self, episodes: Tensor, longest: int) -> EpisodeBatch:
        """Some of the episodes, cut to so many steps, with all observations."""
        seen, levels = self.seen[episodes, :longest], self.levels[episodes, :longest]
        lengths, tasks = self.lengths[episodes], self.tasks[episodes]
        return EpisodeBatch(self.observations, seen, levels, lengths, tasks, self.evidence)

    def weighed(self, potentials: Tensor) -> Tensor:
        """(…, codes) the probability of what is known of a step, by its code, from that of each potential (…)."""
        return potentials if self.evidence is None else potentials @ self.evidence.t().to(potentials.dtype)

    def pick(self, episodes: Tensor) -> EpisodeBatch:
        """Some of the episodes, cut to the longest of them, with the observations that occur in these."""
        some = self.rows(episodes, int(self.lengths[episodes].max()))
        mask, seen = some.mask, torch.zeros_like(some.seen)
        used, seen[mask] = torch.unique(some.seen[mask], return_inverse=True)
        return some._replace(observations=self.observations[used], seen=seen)

    def parts(self, most: int = 1 << 18) -> Iterator[EpisodeBatch]:
        """The batch in parts of about so many steps; itself if it has no more."""
        if self.steps <= most:
            yield self
            return
        number = (torch.cumsum(self.lengths, 0) - self.lengths) // most
        for part in range(int(number[-1]) + 1):
            if bool((number == part).any()):  # an episode may be longer than a part
                yield self.pick(torch.nonzero(number == part)[:, 0])

    def allowed(self, episode: int, step: int) -> Tensor:
        """(n,) the indices of the potentials that what is known of a step allows."""
        code = self.levels[episode, step]
        return code[None] if self.evidence is None else torch.nonzero(self.evidence[code])[:, 0]

    def to(self, device: torch.device | str) -> EpisodeBatch:
        """The batch on another device."""
        evidence = None if self.evidence is None else self.evidence.to(device)
        observations, seen, levels, lengths, tasks = (field.to(device) for field in self[:5])
        return EpisodeBatch(observations, seen, levels, lengths, tasks, evidence)


def step_mask(lengths: Tensor, time: int) -> Tensor:
    """(batch, time) true at the first `lengths` steps."""
    return torch.arange(time, device=lengths.device) < lengths[:, None]


def pack(observations: Values, lengths: Tensor | Sequence[int] | None, levels: Values | None = None) -> EpisodeBatch:
    """A batch from padded observations (batch, time, …); padding may hold anything, even NaN."""
    observations = as_tensor(observations, "observations")
    levels = None if levels is None else as_tensor(levels, "levels").to(observations.device)
    if observations.dim() < 2:
        raise EpisodeError(f"observations have shape {tuple(observations.shape)}; (batch, time, …) is needed")
    batch, time = observations.shape[:2]
    counts = (
        torch.full((batch,), time, device=observations.device)
        if lengths is None
        else torch.as_tensor(lengths, dtype=torch.int64, device=observations.device)
    )
    if counts.shape != (batch,) or bool(((counts < 0) | (counts > time)).any()):
        raise EpisodeError(f"lengths must be {batch} numbers from 0 to {time}, not {counts.tolist()}")
    mask = step_mask(counts, time)
    index = torch.zeros(batch, time, dtype=torch.int64, device=observations.device)
    index[mask] = torch.arange(int(mask.sum()), device=observations.device)
    if levels is None:
        labels = torch.zeros_like(index)
    elif levels.shape != (batch, time):
        raise EpisodeError(
            f"potentials have shape {tuple(levels.shape)}, observations {batch} episodes of {time} steps"
        )
    else:
        labels = torch.where(mask, levels.long(), 0)
    return EpisodeBatch(observations[mask], index, labels, counts, torch.full_like(counts, -1))


def gathered(values: Tensor, index: Tensor) -> Tensor:
    """`values[index]`; its gradient is much faster this way."""
    return values.index_select(0, index.flatten()).view(*index.shape, *values.shape[1:])


class ObservationTable:
    """Distinct observations by number, in the order of their first occurrence."""

    listed: NDArray[np.int64] | None = None
    """(n,) the numbers of observations that an environment lists, and shows by these; None where it lists none."""

    def __init__(self, rows: ArrayLike | None = None, blank: Tensor | None = None) -> None:
        """`rows`: (n, …) the first observations; `blank`: (0, …) of the kind that will come, for saved states."""
        self._blank = torch.empty(0) if blank is None else blank
        self._rows: NDArray[Any] = np.zeros(0)
        # A digest and not the bytes themselves, which would keep every observation twice.
        self._numbers: dict[bytes, int] = {}
        if rows is not None:
            self.add(rows)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, numbers: Any) -> NDArray[Any]:
        """(time, …) the observations with these numbers (time,); `table[:]` is all of them."""
        rows: NDArray[Any] = self._rows[: len(self)][numbers]
        return rows

    def add(self, rows: ArrayLike, place: str = "observations") -> NDArray[np.int64]:
        """(time,) the numbers of observations (time, …), known or new. Errors name the `place`; then none is added."""
        given = np.ascontiguousarray(rows)
        self._check_kind(given, place)
        digests = _digests(given)
        first: dict[bytes, int] = {}
        for row, digest in enumerate(digests):
            if digest not in self._numbers:
                first.setdefault(digest, row)
        if first:
            self._append(given, list(first.values()), place)
        for digest in first:
            self._numbers[digest] = len(self)
        return np.array([self._numbers[digest] for digest in digests], dtype=np.int64)

    def numbers(self, rows: Tensor) -> Tensor:
        """(time,) the same as `add`, of tensors on any device."""
        return torch.from_numpy(self.add(rows.cpu().numpy())).to(rows.device)

    def record(self, shown: NDArray[Any]) -> NDArray[np.int64]:
        """(time,) the numbers of what an episode showed (time, …)."""
        return self.add(shown)

    def shown(self, rows: Tensor) -> Tensor:
        """(n, …) the observations of which an environment shows `rows` (n, …)."""
        return rows

    def saved(self) -> Tensor:
        """All observations, to go on from with `loaded`."""
        return torch.from_numpy(self[:].copy()) if len(self) else self._blank

    def loaded(self, saved: Tensor) -> ObservationTable:
        """The table of what `saved` gave."""
        return ObservationTable(saved.numpy(), self._blank)

    def find(self, rows: ArrayLike, missing: int = -1) -> NDArray[np.int64]:
        """(time,) the numbers of observations (time, …), `missing` where one is not in the table. None is added."""
        given = np.ascontiguousarray(rows)
        return np.array([self._numbers.get(digest, missing) for digest in _digests(given)], dtype=np.int64)

    def compact(self, used: ArrayLike) -> NDArray[np.int64]:
        """Forget all observations but those with the numbers `used`; where each number has moved, -1 if forgotten."""
        kept = np.unique(np.asarray(used, dtype=np.int64))
        moved = np.full(len(self), -1, dtype=np.int64)
        moved[kept] = np.arange(len(kept))
        self._rows = self[kept]
        self._numbers = {key: int(moved[old]) for key, old in self._numbers.items() if moved[old] >= 0}
        return moved

    def _check_kind(self, rows: NDArray[Any], place: str) -> None:
        if rows.dtype.kind not in "biuf":
            raise EpisodeError(f"{place}: observations must hold numbers, not {rows.dtype}")
        if len(self) and (rows.shape[1:] != self._rows.shape[1:] or rows.dtype != self._rows.dtype):
            raise EpisodeError(
                f"{place}: observations are {rows.dtype} of shape {rows.shape[1:]}, those before are "
                f"{self._rows.dtype} of shape {self._rows.shape[1:]}"
            )

    def _append(self, given: NDArray[Any], which: Sequence[int], place: str) -> None:
        """Keep some of the rows given. Only these are looked at: what is known was finite when it came."""
        fresh = given[which]
        if fresh.dtype.kind == "f" and not np.isfinite(fresh).all():
            row = which[int(np.argwhere(~np.isfinite(fresh))[0][0])]
            raise EpisodeError(f"{place}, row {row} (counting from 0): the observation holds NaN or infinity")
        known, needed = len(self), len(self) + len(fresh)
        if needed > len(self._rows):
            grown = np.empty((max(needed, 2 * known), *fresh.shape[1:]), dtype=fresh.dtype)
            if known:
                grown[:known] = self[:]
            self._rows = grown
        self._rows[known:needed] = fresh


class StepTable(ObservationTable):
    """The same where observations hardly come again: each step has a number of its own, and costs no Python object."""

    _count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: ArrayLike, place: str = "observations") -> NDArray[np.int64]:
        """By new numbers."""
        given = np.asarray(rows)
        self._check_kind(given, place)
        self._append(given, range(len(given)), place)
        first, self._count = self._count, self._count + len(given)
        return np.arange(first, self._count)


class ListedTable(ObservationTable):
    """The same where an environment lists its observations: episodes show their row numbers, and none is forgotten."""

    def __init__(
        self, listed: Tensor, blank: Tensor | None = None, rows: ArrayLike | None = None, grows: bool = True
    ) -> None:
        super().__init__(rows, blank)
        self._frames = listed.cpu()
        given = self._frames.numpy()
        self.listed: NDArray[np.int64] = self.add(given) if grows else super().find(given)

    def record(self, shown: NDArray[Any]) -> NDArray[np.int64]:
        """By row number."""
        return self.find(shown)

    def shown(self, rows: Tensor) -> Tensor:
        """By row number."""
        return self._frames[rows]

    def find(self, rows: ArrayLike, missing: int = -1) -> NDArray[np.int64]:  # noqa: ARG002
        """By row number."""
        numbers: NDArray[np.int64] = self.listed[np.asarray(rows)]
        return numbers

    def compact(self, used: ArrayLike) -> NDArray[np.int64]:  # noqa: ARG002
        """Nothing moves."""
        return np.arange(len(self))

    def saved(self) -> Tensor:
        """Nothing: the environment lists them again."""
        return self._blank

    def loaded(self, saved: Tensor) -> ObservationTable:  # noqa: ARG002
        """Itself."""
        return self


def observation_table(
    listed: Tensor | None, blank: Tensor | None = None, rows: ArrayLike | None = None, grows: bool = True
) -> ObservationTable:
    """A table for an environment that lists its observations (n, …), or does not; `rows`: what it knows already.

    `grows`: whether what is listed and not known gets a number.
    """
    return ObservationTable(rows, blank) if listed is None else ListedTable(listed, blank, rows, grows)


def _digests(rows: NDArray[Any]) -> list[bytes]:
    """What tells observations (time, …) apart."""
    flat = rows.reshape(-1).view(np.uint8).reshape(len(rows), rows.itemsize * math.prod(rows.shape[1:]))
    return [blake2b(row.data, digest_size=16).digest() for row in flat]
