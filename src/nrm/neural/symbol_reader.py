"""From observations to letters: a grounder in front of a machine's alphabet."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from nrm.errors import AlphabetError, EpisodeError, LearningError, listing
from nrm.machines import Alphabet, MachineLike, TaskSet, as_machine
from nrm.neural.emission import LetterDistribution, PropositionDistribution, Values, as_tensor, check_finite
from nrm.neural.episodes import EpisodeBatch, gathered
from nrm.neural.grounders.registry import RecurrentGrounder
from nrm.neural.moore import ProbabilisticMoore
from nrm.neural.task_machines import TaskMachines

Emission = Literal["categorical", "independent"]


def emission_for(alphabet: Alphabet) -> Emission:
    """What a grounder is best asked for: one probability for each proposition where a letter each would be too many."""
    return "categorical" if alphabet.is_small else "independent"


def said_symbols(alphabet: Alphabet, emission: Emission) -> int:
    """How many numbers a grounder must give for an observation."""
    return len(alphabet.symbols) if emission == "independent" else alphabet.size


class PlainReading:
    """A grounder that names symbols observation by observation: what it encodes is what it says."""

    recurrent = False
    width = 0

    def __init__(self, grounder: nn.Module) -> None:
        self._grounder = grounder

    def start(self, count: int) -> Tensor:
        """(count, width) the grounder's state at the beginning of episodes."""
        return torch.empty(count, 0)

    def encode(self, observations: Tensor) -> Tensor:
        """(n, …) what depends on each observation (n, …) alone."""
        said: Tensor = self._grounder(observations)
        return said

    def read(self, encoded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(n, symbols) and the state (n, width) after one more step of n episodes."""
        return encoded, state

    def said(self, batch: EpisodeBatch, encoded: Tensor) -> Tensor:  # noqa: ARG002 - what came before plays no part
        """(rows, symbols) for a batch, from what was encoded of its observations."""
        return encoded

    def rows(self, batch: EpisodeBatch) -> Tensor:
        """(batch, time) the row of each step; 0 at padding."""
        return batch.seen

    def sample(self, batch: EpisodeBatch, generator: torch.Generator) -> EpisodeBatch:
        """Some observations, as episodes of one step."""
        order = torch.randperm(len(batch.observations), generator=generator)[:256].to(batch.observations.device)
        seen = torch.arange(len(order), device=order.device)[:, None]
        return EpisodeBatch(batch.observations[order], seen, torch.zeros_like(seen), torch.ones_like(seen[:, 0]))


class RecurrentReading(PlainReading):
    """A recurrent grounder, which names symbols step by step of an episode."""

    recurrent = True

    def __init__(self, grounder: nn.Module) -> None:
        assert isinstance(grounder, RecurrentGrounder)
        self._recurrent = grounder
        self.width = grounder.width

    def start(self, count: int) -> Tensor:
        """As the grounder says."""
        return self._recurrent.start(count)

    def encode(self, observations: Tensor) -> Tensor:
        """As the grounder says."""
        return self._recurrent.encode(observations)

    def read(self, encoded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """As the grounder says."""
        return self._recurrent.read(encoded, state)

    def said(self, batch: EpisodeBatch, encoded: Tensor) -> Tensor:
        """(steps, symbols)."""
        said, mask = self._recurrent.sequence(gathered(encoded, batch.seen), batch.lengths), batch.mask
        if said.shape[:2] != mask.shape:
            raise AlphabetError(
                f"the grounder turned episodes (batch, time) of {tuple(mask.shape)} into {tuple(said.shape)}; "
                f"(*{tuple(mask.shape)}, symbols) is needed"
            )
        return said[mask]

    def rows(self, batch: EpisodeBatch) -> Tensor:
        """The number of each step."""
        return batch.numbered

    def sample(self, batch: EpisodeBatch, generator: torch.Generator) -> EpisodeBatch:
        """Some episodes."""
        order = torch.randperm(len(batch.lengths), generator=generator)[:16]
        return batch.pick(order.to(batch.lengths.device))


class SymbolReader(nn.Module):
    """A grounder and the machine whose symbols it names."""

    def __init__(
        self,
        grounder: nn.Module,
        machine: ProbabilisticMoore | MachineLike | TaskSet,
        emission: Emission = "categorical",
    ) -> None:
        super().__init__()
        if emission not in ("categorical", "independent"):
            raise AlphabetError(f"an emission is 'categorical' or 'independent', not '{emission}'")
        self.grounder = grounder
        self.machine = _module(machine, emission)
        self.emission: Emission = emission
        alphabet = self.machine.alphabet
        if emission == "categorical" and not alphabet.is_listable:
            raise AlphabetError(
                f"{len(alphabet.symbols)} propositions have 2^{len(alphabet.symbols)} letters, too many for a "
                "distribution over all of them; use emission='independent'"
            )
        if emission == "independent" and not alphabet.is_free:
            raise AlphabetError(
                "independent propositions need a propositional alphabet, but exactly one of "
                f"{listing(alphabet.letter_names)} holds at a step; use emission='categorical'"
            )

    @property
    def distribution(self) -> LetterDistribution:
        """How what the grounder says is read."""
        if self.emission == "categorical":
            return LetterDistribution(self.machine.alphabet.size)
        return PropositionDistribution(len(self.machine.alphabet.symbols), self.machine.moved_by_propositions)

    @property
    def reading(self) -> PlainReading:
        """How the grounder reads episodes."""
        kind = RecurrentReading if isinstance(self.grounder, RecurrentGrounder) else PlainReading
        return kind(self.grounder)

    @property
    def recurrent(self) -> bool:
        """Whether the grounder carries a state through episodes."""
        return self.reading.recurrent

    @property
    def tasks(self) -> TaskSet | None:
        """The tasks, where there are many and every episode has one of them."""
        return self.machine.tasks if isinstance(self.machine, TaskMachines) else None

    @property
    def counts(self) -> bool:
        """Whether letters are read by their classes, which are counted from independent propositions."""
        return self.distribution.counted

    @property
    def outputs(self) -> int:
        """How many numbers the grounder must give per observation."""
        return self.distribution.outputs

    def ground(self, observations: Values, check: bool = True) -> Tensor:
        """(n, symbols) what the grounder says about observations (n, …)."""
        observations = self._tensor(observations)
        if observations.dim() < 1:
            raise EpisodeError("one number is no list of observations; (n, …) is needed")
        if self.recurrent:
            raise LearningError(
                f"{type(self.grounder).__name__} names symbols by what an episode has shown so far, not by single "
                "observations; give whole episodes, model(observations (batch, time, …)), or go step by step with "
                "model.step(observation, belief, carry=carry)"
            )
        if check:
            check_finite(observations)
        symbols: Tensor = self.grounder(observations)
        self._check_symbols(symbols, observations, len(observations), check)
        return symbols

    def ground_batch(self, batch: EpisodeBatch, check: bool = True) -> Tensor:
        """(rows, symbols) what the grounder says about a batch; `rows(batch)` tells which row a step has."""
        if check:
            check_finite(batch.observations)
        return self._said(batch, self.reading.encode(batch.observations), check)

    @torch.no_grad()
    def said(self, observations: Tensor) -> Tensor:
        """(n, …) what the grounder makes of single observations, without gradient and in parts."""
        encode = self.reading.encode
        return torch.cat([encode(part) for part in torch.split(observations, 512)])

    @torch.no_grad()
    def said_batch(self, batch: EpisodeBatch) -> Tensor:
        """What `ground_batch` gives, without gradient and in parts."""
        return self._said(batch, self.said(batch.observations), check=False)

    def rows(self, batch: EpisodeBatch) -> Tensor:
        """(batch, time) which row of what `ground_batch` gives belongs to each step; 0 at padding."""
        return self.reading.rows(batch)

    def read(self, observations: Values, carry: Tensor | None = None, check: bool = True) -> tuple[Tensor, Tensor]:
        """Symbols (n, symbols) of one more step (n, …) of n episodes, and the grounder's state (n, width) after."""
        reading, observations = self.reading, self._tensor(observations)
        if check:
            check_finite(observations)
        before = reading.start(len(observations)) if carry is None else carry
        if before.shape != (len(observations), reading.width):
            raise EpisodeError(
                f"the grounder's state has shape {tuple(before.shape)}; ({len(observations)}, {reading.width}) is "
                "needed"
            )
        symbols, after = reading.read(reading.encode(observations), before)
        self._check_symbols(symbols, observations, len(observations), check)
        return symbols, after

    def letter_probs(self, symbols: Tensor) -> Tensor:
        """What the machine moves by, from what the grounder says (…, symbols): see `LetterDistribution`."""
        return self.distribution.letter_probs(symbols).to(self.machine.dtype)

    def letters(self, symbols: Tensor) -> Tensor:
        """(…) the most probable letter of each row of what the grounder says (…, symbols)."""
        return self.distribution.letters(symbols)

    def _said(self, batch: EpisodeBatch, encoded: Tensor, check: bool) -> Tensor:
        symbols = self.reading.said(batch, encoded)
        rows = batch.steps if self.recurrent else len(batch.observations)
        self._check_symbols(symbols, batch.observations, rows, check)
        return symbols

    def _check_symbols(self, symbols: Tensor, observations: Tensor, rows: int, check: bool) -> None:
        """Raise unless symbols are (rows, symbols) and, with `check`, probabilities."""
        expected = self.outputs
        if symbols.shape != (rows, expected):
            raise AlphabetError(
                f"the grounder turned observations of shape {tuple(observations.shape)} into "
                f"{tuple(symbols.shape)}; the alphabet ({listing(self.machine.alphabet.symbols)}) needs "
                f"({rows}, {expected})"
            )
        if check:
            self.distribution.check(symbols)

    def _tensor(self, observations: Values) -> Tensor:
        """Observations on the device of the machine, when they are no tensor yet."""
        given = isinstance(observations, Tensor)
        tensor = as_tensor(observations, "observations")
        return tensor if given else tensor.to(self.machine.levels.device)


def _module(machine: ProbabilisticMoore | MachineLike | TaskSet, emission: Emission) -> ProbabilisticMoore:
    """What a model is given, as a module."""
    if isinstance(machine, ProbabilisticMoore):
        return machine
    if isinstance(machine, TaskSet):
        return TaskMachines(machine, counted=emission == "independent")
    known = as_machine(machine)
    listed = True if emission == "categorical" and known.alphabet.is_listable else None
    return ProbabilisticMoore.from_machine(known, listed=listed)
