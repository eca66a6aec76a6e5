"""Recorded episodes in a file: a documented `.npz` layout that any tool can write.

Arrays of the file (`numpy.savez` writes it; nothing in it is pickled):

- `observations` (steps, …): what was observed at each step, the steps of all episodes one after the other. Or, to save
  space, (distinct, …): the distinct observations, with
- `index` (steps,), optional: which of `observations` was made at each step.
- `lengths` (episodes,): how many steps each episode has.
- `rewards` (steps,): what was paid at each step; the sum so far plus the initial potential is a potential of the
machine. Or
- `verdicts` (episodes,): whether each episode satisfies the task, true or false.
- `symbols` (steps,), optional: the true letter of each step, as a number. For evaluation only.
- `symbol_names` (letters,), optional: names of the symbols, in the order of those numbers.
- `names` (episodes,), optional: names of the episodes.
- `feature_names` (features,), optional: names of the columns of `observations` (steps, features).
- `metadata`, optional: a JSON text about the recording.

Row t is what was seen when reward t was paid: the observation of a reset is not part of an episode.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.errors import EpisodeError, EpisodeFileError, listing
from nrm.files import make_folder, parse_json, read_arrays, read_bytes, write_bytes
from nrm.machines import LevelCodec, MooreMachine
from nrm.neural.buffer import EpisodeBuffer
from nrm.neural.episodes import ObservationTable
from nrm.neural.moore import ProbabilisticMoore


@dataclass(frozen=True, eq=False)
class RecordedEpisodes:
    """Episodes as they are in a file."""

    observations: NDArray[np.generic]
    """(steps, …), or (distinct, …) when there is an `index`."""
    lengths: NDArray[np.int64]
    rewards: NDArray[np.float64] | None = None
    index: NDArray[np.int64] | None = None
    symbols: NDArray[np.int64] | None = None
    symbol_names: tuple[str, ...] | None = None
    metadata: Json = field(default_factory=dict)
    verdicts: NDArray[np.bool_] | None = None
    """(episodes,) whether each satisfies the task, in place of rewards."""
    names: tuple[str, ...] | None = None
    """Of the episodes."""
    feature_names: tuple[str, ...] | None = None
    """Of the columns of observations (steps, features), as a table has them."""

    def __post_init__(self) -> None:
        steps = int(self.lengths.sum()) if self.lengths.ndim == 1 else -1
        if steps < 1 or bool((self.lengths < 1).any()):
            raise EpisodeFileError(f"'lengths' must be a list of positive step counts, not {self.lengths.tolist()}")
        seen = "observations" if self.index is None else "index"
        for name in (seen, "rewards", "symbols"):
            rows = getattr(self, name)
            if rows is not None and len(rows) != steps:
                raise EpisodeFileError(f"'{name}' has {len(rows)} rows, but 'lengths' sum to {steps} steps")
        if self.observations.dtype.kind not in "biuf":
            raise EpisodeFileError(f"'observations' must hold numbers, not {self.observations.dtype}")
        for name in ("verdicts", "names"):
            rows = getattr(self, name)
            if rows is not None and len(rows) != len(self.lengths):
                raise EpisodeFileError(f"'{name}' has {len(rows)} rows, but there are {len(self.lengths)} episodes")
        if self.feature_names is not None and self.shape != (len(self.feature_names),):
            count = len(self.feature_names)
            raise EpisodeFileError(f"'feature_names' has {count} names for steps {self.shape}")
        if self.rewards is not None and not np.isfinite(self.rewards).all():
            place = int(np.argmin(np.isfinite(self.rewards)))
            raise EpisodeFileError(f"'rewards' holds NaN or infinity at step {place}")
        if self.index is not None and not 0 <= self.index.min() <= self.index.max() < len(self.observations):
            raise EpisodeFileError(f"'index' names an observation outside 0 to {len(self.observations) - 1}")
        if self.symbols is not None and self.symbols.min() < 0:
            raise EpisodeFileError("'symbols' holds a negative number; letters are numbered from 0")

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        return tuple(self.observations.shape[1:])

    def buffer(self, machine: MooreMachine | None = None) -> EpisodeBuffer:
        """The episodes for a machine; without one, for a machine to be learned that starts at potential 0."""
        if machine is not None:
            return self.into(EpisodeBuffer.for_machine(machine))
        if self.rewards is None:
            return self.into(EpisodeBuffer([0.0, 1.0], 0.0, accepting=[False, True]))
        codec = LevelCodec.observed(np.split(self.rewards, np.cumsum(self.lengths)[:-1]))
        return self.into(EpisodeBuffer(codec.levels, codec.initial))

    def into(self, buffer: EpisodeBuffer) -> EpisodeBuffer:
        """A buffer with the episodes, and with what is known of them: rewards or verdicts."""
        if self.rewards is None and self.verdicts is None:
            raise EpisodeFileError("the episodes have neither rewards nor verdicts, so they teach nothing; add one")
        end = 0
        for number, length in enumerate(self.lengths.tolist()):
            steps = slice(end, end := end + length)
            shown = self.observations[steps if self.index is None else self.index[steps]]
            known: Any = {"rewards": self.rewards[steps]} if self.rewards is not None else {}
            if self.verdicts is not None and not known:
                known = {"verdict": bool(self.verdicts[number])}
            buffer.add(shown, **known, symbols=None if self.symbols is None else self.symbols[steps])
        return buffer


def as_buffer(episodes: EpisodeBuffer | RecordedEpisodes, machine: ProbabilisticMoore | None = None) -> EpisodeBuffer:
    """Recorded episodes as a buffer for a machine; a buffer as it is."""
    if isinstance(episodes, EpisodeBuffer):
        return episodes
    if not isinstance(episodes, RecordedEpisodes):
        raise EpisodeError(f"episodes are an EpisodeBuffer or RecordedEpisodes, not {type(episodes).__name__}")
    if machine is None:
        return episodes.buffer()
    return episodes.into(EpisodeBuffer(machine.levels.cpu().numpy(), machine.initial_level))


def record_episodes(
    observations: Sequence[NDArray[np.generic]],
    rewards: Sequence[NDArray[np.generic]] | None = None,
    symbols: Sequence[NDArray[np.generic]] | None = None,
    symbol_names: Sequence[str] | None = None,
    metadata: Json | None = None,
    *,
    verdicts: Sequence[bool] | None = None,
    names: Sequence[str] | None = None,
) -> RecordedEpisodes:
    """Episodes from lists: observations (time, …) of each, with rewards (time,) or a verdict of each.

    Equal observations are stored once.
    """
    if not observations:
        raise EpisodeFileError("there are no episodes to record")
    rows = np.concatenate([np.asarray(part) for part in observations])
    frames = ObservationTable()
    index = frames.add(rows)
    few = len(frames) < 0.5 * len(rows)
    counted = observations if rewards is None else rewards
    return RecordedEpisodes(
        observations=frames[:] if few else rows,
        lengths=np.array([len(part) for part in counted], dtype=np.int64),
        rewards=None if rewards is None else np.concatenate([np.asarray(one, dtype=np.float64) for one in rewards]),
        index=index if few else None,
        symbols=None if symbols is None else np.concatenate([np.asarray(part) for part in symbols]).astype(np.int64),
        symbol_names=None if symbol_names is None else tuple(symbol_names),
        metadata=metadata or {},
        verdicts=None if verdicts is None else np.array(verdicts, dtype=bool),
        names=None if names is None else tuple(names),
    )


def save_episodes(path: str | Path, episodes: RecordedEpisodes) -> Path:
    """Write an episode file (.npz); see `record_episodes`."""
    if not isinstance(episodes, RecordedEpisodes):
        raise EpisodeFileError(f"give what record_episodes(observations, rewards) made, not {type(episodes).__name__}")
    target = Path(path) if str(path).endswith(".npz") else Path(f"{path}.npz")
    values = vars(episodes) | {"metadata": json.dumps(episodes.metadata)}
    arrays = {name: np.asarray(value) for name, value in values.items() if value is not None}
    whole = io.BytesIO()
    # Typed stubs of savez_compressed take `allow_pickle` for one of the arrays.
    np.savez_compressed(whole, **arrays)  # type: ignore[arg-type]
    make_folder(target.parent)
    write_bytes(target, whole.getvalue())
    return target


def load_npz(path: str | Path) -> RecordedEpisodes:
    """Read an `.npz` of episodes, or say which array is missing or malformed."""
    data = read_bytes(path, EpisodeFileError)
    if not data.startswith(b"PK"):
        raise EpisodeFileError(f"{path} is no episode file (.npz, by nrm.save_episodes), nor a table (.csv, .parquet)")
    known = [field.name for field in fields(RecordedEpisodes)]
    arrays = read_arrays(data, str(path), known, EpisodeFileError)
    missing = [name for name in ("observations", "lengths") if name not in arrays]
    if missing:
        found = f"{path} lacks {listing(missing)}; it has {listing(arrays) or 'no arrays'}"
        raise EpisodeFileError(f"{found} (of {listing(known)}, all but the first two are optional)")
    numbers = ("lengths", "index", "symbols")
    given: dict[str, Any] = {name: _whole(arrays[name], name, path) for name in numbers if name in arrays}
    if "verdicts" in arrays:
        given["verdicts"] = _whole(arrays["verdicts"] * 1, "verdicts", path) > 0
    try:
        if "metadata" in arrays:
            given["metadata"] = parse_json(str(arrays["metadata"]), "'metadata'", error=EpisodeFileError)
        for name in {"symbol_names", "names", "feature_names"} & arrays.keys():
            given[name] = tuple(map(str, arrays[name]))
        if "rewards" in arrays:
            given["rewards"] = arrays["rewards"].astype(np.float64)
        return RecordedEpisodes(arrays["observations"], **given)
    except (EpisodeFileError, ValueError, TypeError, OverflowError) as error:
        raise EpisodeFileError(f"{path}: {error}") from None


def _whole(values: NDArray[np.generic], name: str, path: str | Path) -> Any:
    if values.dtype.kind not in "iu":
        raise EpisodeFileError(f"{path}: '{name}' must hold whole numbers, not {values.dtype}")
    return values.astype(np.int64)
