"""From observations to letters: a grounder in front of a machine's alphabet."""

from __future__ import annotations

from typing import Literal, cast

import torch
from torch import Tensor, nn

from nrm.automata.letter_diagram import is_wide
from nrm.errors import AlphabetError, EpisodeError, LearningError, LimitError, listing
from nrm.machines import Alphabet, MachineLike, TaskSet, as_machine
from nrm.neural.emission import (
    Values,
    as_tensor,
    check_distribution,
    check_finite,
    check_unit_interval,
    letters_from_propositions,
)
from nrm.neural.episodes import EpisodeBatch, gathered
from nrm.neural.grounders.registry import RecurrentGrounder
from nrm.neural.moore import ProbabilisticMoore
from nrm.neural.pool_moore import PoolMoore

Emission = Literal["categorical", "independent"]
MAX_BITS = 62
"""Propositions up to which a letter is a number of 64 bits."""
GROUNDED_AT_ONCE = 512
"""Observations that are grounded in one go where no gradient is wanted."""


def emission_for(alphabet: Alphabet) -> Emission:
    """What a grounder is best asked for: one probability for each proposition where a letter each would be too many."""
    return "independent" if alphabet.is_free and is_wide(len(alphabet.symbols)) else "categorical"


def said_symbols(alphabet: Alphabet, emission: Emission) -> int:
    """How many numbers a grounder must give for an observation."""
    return len(alphabet.symbols) if emission == "independent" else alphabet.size


class SymbolReader(nn.Module):
    """A grounder and the machine whose symbols it names.

    A plain grounder names symbols observation by observation; a `RecurrentGrounder` step by step of an episode.
    """

    def __init__(
        self,
        grounder: nn.Module,
        machine: ProbabilisticMoore | MachineLike | TaskSet,
        emission: Emission = "categorical",
    ) -> None:
        super().__init__()
        self.grounder = grounder
        if isinstance(machine, TaskSet):
            # It offers what batches of episodes need; for all else there is `of_task`.
            machine = cast(ProbabilisticMoore, PoolMoore(machine, counted=emission == "independent"))
        elif not isinstance(machine, (ProbabilisticMoore, PoolMoore)):
            known = as_machine(machine)
            listed = True if emission == "categorical" and not known.alphabet.is_wide else None
            machine = ProbabilisticMoore.from_machine(known, listed=listed)
        self.machine: ProbabilisticMoore = machine
        self.emission: Emission = emission
        if emission not in ("categorical", "independent"):
            raise AlphabetError(f"an emission is 'categorical' or 'independent', not '{emission}'")
        alphabet = self.machine.alphabet
        if emission == "categorical" and alphabet.is_wide:
            raise AlphabetError(
                f"{len(alphabet.symbols)} propositions have 2^{len(alphabet.symbols)} letters, too many for a "
                "distribution over all of them; use emission='independent'"
            )
        if emission == "independent" and not alphabet.is_free:
            raise AlphabetError(
                "independent propositions need a propositional alphabet, but exactly one of "
                f"{listing(alphabet.letter_names)} holds at a step; use emission='categorical'"
            )

    def ground(self, observations: Values, check: bool = True) -> Tensor:
        """(n, symbols) what the grounder says about observations (n, …)."""
        observations = self._tensor(observations)
        if observations.dim() < 1:
            raise EpisodeError("one number is no list of observations; (n, …) is needed")
        if self.recurrence is not None:
            raise LearningError(
                f"{type(self.recurrence).__name__} names symbols by what an episode has shown so far, not by single "
                "observations; give whole episodes, model(observations (batch, time, …)), or go step by step with "
                "model.step(observation, belief, carry=carry)"
            )
        if check:
            check_finite(observations)
        symbols: Tensor = self.grounder(observations)
        self._check_symbols(symbols, observations, len(observations), check)
        return symbols

    def ground_batch(self, batch: EpisodeBatch, check: bool = True) -> Tensor:
        """(n, symbols) what the grounder says about the batch's observations; of a recurrent one (steps, symbols).

        `rows(batch)` tells which row a step has.
        """
        grounder = self.recurrence
        if grounder is None:
            return self.ground(batch.observations, check)
        if check:
            check_finite(batch.observations)
        return self._sequence(batch, grounder.encode(batch.observations), check)

    @torch.no_grad()
    def said(self, observations: Tensor) -> Tensor:
        """(n, symbols) what the grounder says, without gradient and in parts: its layers on many images are large."""
        return torch.cat([self.ground(part, check=False) for part in torch.split(observations, GROUNDED_AT_ONCE)])

    @torch.no_grad()
    def said_batch(self, batch: EpisodeBatch) -> Tensor:
        """What `ground_batch` gives, without gradient and in parts."""
        grounder = self.recurrence
        if grounder is None:
            return self.said(batch.observations)
        parts = torch.split(batch.observations, GROUNDED_AT_ONCE)
        return self._sequence(batch, torch.cat([grounder.encode(part) for part in parts]), check=False)

    def rows(self, batch: EpisodeBatch) -> Tensor:
        """(batch, time) which row of what `ground_batch` gives belongs to each step; 0 at padding."""
        return batch.seen if self.recurrence is None else batch.numbered

    def read(self, observations: Values, carry: Tensor | None = None, check: bool = True) -> tuple[Tensor, Tensor]:
        """One more observation (n, …) of n episodes: symbols (n, symbols), and a recurrent grounder's state (n, width).

        `carry`: its state before, that of a beginning if absent.
        """
        grounder, observations = self.recurrence, self._tensor(observations)
        assert grounder is not None
        if check:
            check_finite(observations)
        before = grounder.start(len(observations)) if carry is None else carry
        if before.shape != (len(observations), grounder.width):
            raise EpisodeError(
                f"the grounder's state has shape {tuple(before.shape)}; ({len(observations)}, {grounder.width}) is "
                "needed"
            )
        symbols, after = grounder.read(grounder.encode(observations), before)
        self._check_symbols(symbols, observations, len(observations), check)
        return symbols, after

    @property
    def recurrence(self) -> RecurrentGrounder | None:
        """The grounder, where it carries a state through episodes."""
        return self.grounder if isinstance(self.grounder, RecurrentGrounder) else None

    @property
    def many(self) -> PoolMoore | None:
        """The machines, where there are many tasks and every episode has one of them."""
        machine: nn.Module = self.machine
        return machine if isinstance(machine, PoolMoore) else None

    @property
    def outputs(self) -> int:
        """How many numbers the grounder must give per observation."""
        return said_symbols(self.machine.alphabet, self.emission)

    @property
    def counts(self) -> bool:
        """Whether letters are read by their classes, which are counted from independent propositions."""
        counting = self.machine.counting if self.many is None else self.many.countings
        return self.emission == "independent" and counting is not None

    def letter_probs(self, symbols: Tensor) -> Tensor:
        """What the machine moves by, from what the grounder says (…, symbols): (…, letters).

        Where classes are counted (`counts`) it is (…, classes); of many tasks, each with its own, what was said.
        """
        if self.many is not None and self.many.countings is not None:
            return symbols.to(self.machine.dtype)
        if self.counts and self.machine.counting is not None:
            classes: Tensor = self.machine.counting(symbols)
            return classes.to(self.machine.dtype)
        letters = letters_from_propositions(symbols) if self.emission == "independent" else symbols
        return letters.to(self.machine.dtype)

    def letters(self, symbols: Tensor) -> Tensor:
        """(…) the most probable letter of each row of what the grounder says (…, symbols)."""
        if self.emission == "categorical":
            return symbols.argmax(-1)
        count = symbols.shape[-1]
        if count > MAX_BITS:
            raise LimitError(
                f"the letters of {count} propositions have no number of 64 bits (the limit is {MAX_BITS}); take the "
                "propositions one by one, from what the grounder says"
            )
        # Propositions are independent, so the most probable letter has each as it most probably is.
        return ((symbols > 0.5).long() << torch.arange(count, device=symbols.device)).sum(-1)

    def letter_shares(self, symbols: Tensor, letters: Tensor) -> Tensor:
        """(n,) the probabilities of letters (n,) by what the grounder says (n, symbols)."""
        if not self.counts:
            return self.letter_probs(symbols).gather(1, letters[:, None])[:, 0]
        true = (letters[:, None] >> torch.arange(symbols.shape[-1], device=symbols.device) & 1).bool()
        return torch.where(true, symbols, 1 - symbols).prod(-1)

    def _sequence(self, batch: EpisodeBatch, encoded: Tensor, check: bool) -> Tensor:
        """(steps, symbols) what a recurrent grounder says about what it has encoded (n, …)."""
        assert self.recurrence is not None
        said = self.recurrence.sequence(gathered(encoded, batch.seen), batch.lengths)
        mask = batch.mask
        if said.shape[:2] != mask.shape:
            raise AlphabetError(
                f"the grounder turned episodes (batch, time) of {tuple(mask.shape)} into {tuple(said.shape)}; "
                f"(*{tuple(mask.shape)}, {self.outputs}) is needed"
            )
        symbols = said[mask]
        self._check_symbols(symbols, batch.observations, batch.steps, check)
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
        if check and self.emission == "independent":
            check_unit_interval(symbols, "the grounder's proposition probabilities")
        elif check:
            check_distribution(symbols, "the grounder's symbol probabilities")

    def _tensor(self, observations: Values) -> Tensor:
        """Observations on the device of the machine, when they are no tensor yet."""
        given = isinstance(observations, Tensor)
        tensor = as_tensor(observations, "observations")
        return tensor if given else tensor.to(self.machine.levels.device)
