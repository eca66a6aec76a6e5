"""What a grounder is, how it reads episodes, and the registry through which ours and other people's come in."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from nrm.aliases import Json
from nrm.errors import AlphabetError, EpisodeError, LearningError
from nrm.neural.episodes import EpisodeBatch, gathered
from nrm.registry import Registry

Value = TypeVar("Value")


class Grounder(nn.Module):
    """A grounder that can be saved and rebuilt from its configuration.

    Any `nn.Module` from observations (n, …) to probabilities (n, symbols) can ground; this base class only adds what
    a file needs. `independent=True` ends with a sigmoid: the probabilities of independent propositions.
    """

    def __init__(self, independent: bool, **config: object) -> None:
        """`config`: the other arguments of the class's constructor."""
        super().__init__()
        self.config: Json = {**config, "independent": independent}

    @property
    def dtype(self) -> torch.dtype:
        """The type of its parameters."""
        return next(self.parameters()).dtype

    def probabilities(self, scores: Tensor) -> Tensor:
        """Scores (n, symbols) as probabilities: softmax over symbols, or a sigmoid each when independent."""
        return scores.sigmoid() if self.config["independent"] else torch.softmax(scores, -1)


class PlainReading:
    """A grounder that names symbols observation by observation: what it encodes is what it says."""

    width = 0
    foretold: Tensor | None = None
    """(n, symbols) what it says of each listed observation, whatever came before; None where that is not known."""

    def __init__(self, grounder: nn.Module) -> None:
        self._grounder = grounder

    def start(self, count: int) -> Tensor:
        """(count, width) the grounder's state at the beginning of episodes."""
        return torch.empty(count, 0)

    def check_alone(self) -> None:
        """Raise `LearningError` unless it names symbols by single observations."""

    def resume(self, count: int, began: bool) -> Tensor:  # noqa: ARG002 - there is nothing to go on from
        """(count, width) the state before a step for which none is given; `began`: of an episode under way."""
        return self.start(count)

    def pick(self, by_observation: Value, by_episode: Value) -> Value:  # noqa: ARG002
        """What suits grounders that name symbols by single observations, or by whole episodes."""
        return by_observation

    def encode(self, observations: Tensor) -> Tensor:
        """(n, …) what depends on each observation (n, …) alone."""
        said: Tensor = self._grounder(observations)
        return said

    def read(self, encoded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(n, symbols) and the state (n, width) after one more step of n episodes."""
        return encoded, state

    def settled(self, encoded: Tensor) -> Tensor | None:
        """(n, symbols) of what was encoded, whatever came before it; None where that plays a part."""
        return encoded

    def said(self, batch: EpisodeBatch, encoded: Tensor) -> Tensor:  # noqa: ARG002 - what came before plays no part
        """(rows, symbols) for a batch, from what was encoded of its observations."""
        return encoded

    def rows(self, batch: EpisodeBatch) -> Tensor:
        """(batch, time) the row of each step; 0 at padding."""
        return batch.seen

    def count(self, batch: EpisodeBatch) -> int:
        """How many rows there are."""
        return len(batch.observations)

    def sample(self, batch: EpisodeBatch, generator: torch.Generator) -> EpisodeBatch:
        """Some observations, as episodes of one step."""
        order = torch.randperm(len(batch.observations), generator=generator)[:256].to(batch.observations.device)
        seen = torch.arange(len(order), device=order.device)[:, None]
        ones = torch.ones_like(order)
        return EpisodeBatch(batch.observations[order], seen, torch.zeros_like(seen), ones, -ones)


class RecurrentGrounder(Grounder):
    """A grounder that carries a state through an episode, for symbols that a single observation does not show.

    It reads the observations of an episode one after the other, the first of them after the first action: like the
    machine, it does not read what a reset shows. A class of your own gives `width` and `read`; `encode` is for what
    depends on one observation alone, and `sequence` for a faster form of many reads.
    """

    width: int
    """Numbers in the state of one episode."""
    foretold: Tensor | None = None

    def start(self, count: int) -> Tensor:
        """(count, width) the state at the beginning of episodes."""
        return torch.zeros(count, self.width, dtype=self.dtype, device=next(self.parameters()).device)

    def check_alone(self) -> None:
        """Raise `LearningError`: what came before counts too."""
        raise LearningError(
            f"{type(self).__name__} names symbols by what an episode has shown so far, not by single observations; "
            "give whole episodes, model(observations), or go step by step: model.step(observation, belief, carry=carry)"
        )

    def resume(self, count: int, began: bool) -> Tensor:
        """(count, width) that of the beginning; `EpisodeError` in the middle of an episode."""
        if began:
            raise EpisodeError("a recurrent grounder goes on from its own state: model.step(…, carry=step.carry)")
        return self.start(count)

    def pick(self, by_observation: Value, by_episode: Value) -> Value:  # noqa: ARG002
        """By whole episodes."""
        return by_episode

    def encode(self, observations: Tensor) -> Tensor:
        """(n, …) what is read of observations (n, …), whatever came before: equal ones are encoded once."""
        return observations

    def read(self, encoded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Probabilities (n, symbols) and states (n, width) after a step that showed `encoded` (n, …)."""
        raise NotImplementedError(f"{type(self).__name__} needs a method read(encoded, state)")

    def sequence(self, encoded: Tensor, lengths: Tensor) -> Tensor:  # noqa: ARG002 - faster forms may use it
        """(batch, time, symbols) for episodes (batch, time, …) of these lengths; at padding it may be anything."""
        state, said = self.start(len(encoded)), []
        for step in range(encoded.shape[1]):
            probabilities, state = self.read(encoded[:, step], state)
            said.append(probabilities)
        return torch.stack(said, 1)

    def forward(self, observations: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(batch, time, symbols) for padded observations (batch, time, …)."""
        batch, time = observations.shape[:2]
        encoded = self.encode(observations.flatten(0, 1))
        counts = torch.full((batch,), time, device=observations.device) if lengths is None else lengths
        return self.sequence(encoded.view(batch, time, *encoded.shape[1:]), counts)

    def settled(self, encoded: Tensor) -> Tensor | None:  # noqa: ARG002
        """Nothing."""
        return None

    def said(self, batch: EpisodeBatch, encoded: Tensor) -> Tensor:
        """(steps, symbols) for a batch, from what was encoded of its observations."""
        said, mask = self.sequence(gathered(encoded, batch.seen), batch.lengths), batch.mask
        if said.shape[:2] != mask.shape:
            found = f"episodes (batch, time) of {tuple(mask.shape)} into {tuple(said.shape)}"
            raise AlphabetError(f"the grounder turned {found}; (batch, time, symbols) is needed")
        return said[mask]

    def rows(self, batch: EpisodeBatch) -> Tensor:
        """(batch, time) the number of each step."""
        return batch.numbered

    def count(self, batch: EpisodeBatch) -> int:
        """How many rows `said` has: as many as steps."""
        return batch.steps

    def sample(self, batch: EpisodeBatch, generator: torch.Generator) -> EpisodeBatch:
        """Some episodes."""
        order = torch.randperm(len(batch.lengths), generator=generator)[:16]
        return batch.pick(order.to(batch.lengths.device))


class ListedReading:
    """A grounder where an environment lists its observations: it is shown row numbers, and each is encoded once."""

    def __init__(self, reading: PlainReading | RecurrentGrounder, frames: Tensor) -> None:
        self._encoded = reading.encode(frames)
        self.read = reading.read
        self.foretold = reading.settled(self._encoded)

    def encode(self, rows: Tensor) -> Tensor:
        """(n, …) of observations with these row numbers (n,)."""
        return self._encoded[rows]


_HOMES = {
    "auto": "selection",
    "mlp": "mlp",
    "fourier": "mlp",
    "rows": "mlp",
    "cnn": "cnn",
    "pooled": "cnn",
    "attending": "cnn",
    "recurrent": "recurrent",
    "parts": "mlp",
    "detector": "detector",
    "paper": "selection",
    "true-labels": "mlp",
    "standardised": "mlp",
}
GROUNDERS: Registry[Any] = Registry(
    "grounder", ("label", "from_shape"), {name: f"nrm.neural.grounders.{home}" for name, home in _HOMES.items()}
)
"""Classes of grounders, and rules that choose among them; `from_shape(shape, symbols, independent)` builds one."""


def entry_of(grounder: nn.Module) -> str | None:
    """What finds the class of a grounder again: our name of it, `module:name` of others; None for a plain module."""
    kind: Any = type(grounder)
    if not hasattr(kind, "from_shape") or not hasattr(grounder, "config"):
        return None
    return kind.name if kind.__module__.startswith("nrm.") else f"{kind.__module__}:{kind.__qualname__}"
