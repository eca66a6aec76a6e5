"""Episodes as tensors: distinct observations once, and which of them was seen when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from nrm.errors import EpisodeError
from nrm.neural.probabilities import Values, as_tensor


class EpisodeBatch(NamedTuple):
    """Episodes side by side. Padding exists only in `seen` and `levels`, and is never grounded."""

    observations: Tensor
    """(n, …) the observations that occur, each to be grounded once."""
    seen: Tensor
    """(batch, time) which observation was made; 0 at padding."""
    levels: Tensor
    """(batch, time) index of the potential after the step; 0 at padding."""
    lengths: Tensor
    """(batch,) steps of each episode."""
    tasks: Tensor | None = None
    """(batch,) the number of each episode's task, where the model has many."""

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

    def pick(self, episodes: Tensor) -> EpisodeBatch:
        """Some of the episodes, cut to the longest of them, with the observations that occur in these."""
        lengths = self.lengths[episodes]
        longest = int(lengths.max())
        seen, mask = self.seen[episodes, :longest], step_mask(lengths, longest)
        used, places = torch.unique(seen[mask], return_inverse=True)
        seen = torch.zeros_like(seen)
        seen[mask] = places
        tasks = None if self.tasks is None else self.tasks[episodes]
        return EpisodeBatch(self.observations[used], seen, self.levels[episodes, :longest], lengths, tasks)

    def to(self, device: torch.device | str) -> EpisodeBatch:
        """The batch on another device."""
        tasks = None if self.tasks is None else self.tasks.to(device)
        observations, seen, levels, lengths = (field.to(device) for field in self[:4])
        return EpisodeBatch(observations, seen, levels, lengths, tasks)


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
    return EpisodeBatch(observations[mask], index, labels, counts)


def gathered(values: Tensor, index: Tensor) -> Tensor:
    """`values[index]`; its gradient is much faster this way."""
    return values.index_select(0, index.flatten()).view(*index.shape, *values.shape[1:])
