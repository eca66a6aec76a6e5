"""The neural reward machine: a grounder and a probabilistic Moore machine (paper, "Neural Reward Machines")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.errors import ContradictionError, EpisodeError
from nrm.machines import LevelCodec
from nrm.neural.emission import Values, as_tensor
from nrm.neural.episodes import EpisodeBatch, gathered, pack
from nrm.neural.recursion import ChainMethod, DenseChain, SparseChain
from nrm.neural.symbol_reader import Emission, SymbolReader

__all__ = ["Beliefs", "Crisp", "Emission", "Filtered", "NeuralRewardMachine", "Step"]


class Beliefs(NamedTuple):
    """What a neural reward machine makes of some episodes. All zero at padding."""

    symbols: Tensor
    """(batch, time, symbols) what the grounder says: x_pp. Propositions, when these are independent."""
    states: Tensor
    """(batch, time, states) x_qp."""
    rewards: Tensor
    """(batch, time, potentials) x_rp."""


class Filtered(NamedTuple):
    """Beliefs that know the rewards received so far. All zero at padding."""

    states: Tensor
    """(batch, time, states) the belief after the potential of the step was seen."""
    likelihoods: Tensor
    """(batch, time) the probability of that potential given all before."""


class Crisp(NamedTuple):
    """The most probable symbol, state and potential of each step, each by itself; -1 at padding."""

    letters: Tensor
    states: Tensor
    levels: Tensor


class Step(NamedTuple):
    """One step of acting."""

    symbols: Tensor
    """(batch, symbols)"""
    belief: Tensor
    """(batch, states)"""
    rewards: Tensor
    """(batch, potentials) before the potential of this step was seen."""
    carry: Tensor | None = None
    """(batch, width) the grounder's state, for the next step; None unless it is recurrent."""


class NeuralRewardMachine(SymbolReader):
    """A grounder and a machine; either may be known or learned.

    `grounder` is any module from observations (n, …) to probabilities: over the letters of the alphabet (`emission=
    "categorical"`; for propositions that is the joint distribution over their 2^n combinations), or of each
    proposition by itself (`"independent"`). A `RecurrentGrounder` reads whole episodes instead of single observations.
    """

    def with_grounder(self, grounder: nn.Module) -> NeuralRewardMachine:
        """The same machine behind another grounder; nothing is copied."""
        return NeuralRewardMachine(grounder, self.machine, self.emission)

    def forward(
        self, observations: Values, lengths: Tensor | Sequence[int] | None = None, method: ChainMethod = "auto"
    ) -> Beliefs:
        """Symbol, state and reward probabilities for each step of padded observations (batch, time, …).

        Open loop (equation "VRM_net"): the rewards that were received play no part.
        """
        batch = pack(self._tensor(observations), lengths)
        symbols = self.ground_batch(batch)
        states = self._open_loop(batch, symbols, method)
        mask = batch.mask.unsqueeze(-1)
        states = states * mask
        return Beliefs(gathered(symbols, self.rows(batch)) * mask, states, states @ self.machine.reward_probs())

    def filter(
        self,
        observations: Values,
        levels: Values,
        lengths: Tensor | Sequence[int] | None = None,
        method: ChainMethod = "auto",
    ) -> Filtered:
        """Beliefs filtered by the potentials (batch, time) seen so far: indices into `machine.levels`."""
        batch = pack(self._tensor(observations), lengths, levels)
        self._check_levels(batch.levels, "episode, step")
        symbols = self.ground_batch(batch)
        states, steps = self._chain(batch, symbols, True, method).filtered(self._start(batch))
        return Filtered(states.transpose(0, 1) * batch.mask.unsqueeze(-1), steps.t() * batch.mask)

    def log_likelihood(
        self,
        observations: Values,
        levels: Values,
        lengths: Tensor | Sequence[int] | None = None,
        method: ChainMethod = "auto",
    ) -> Tensor:
        """(batch,) the logarithm of the probability of each whole sequence of potentials, given the observations.

        An impossible sequence is an error that names the episode and step.
        """
        batch = pack(self._tensor(observations), lengths, levels)
        self._check_levels(batch.levels, "episode, step")
        total, steps = self.batch_log_likelihood(batch, self.ground_batch(batch), method)
        impossible = (steps.t() <= 0) & batch.mask
        if bool(impossible.any()):
            episode, step = (int(number) for number in impossible.nonzero()[0])
            level = float(self.machine.levels[batch.levels[episode, step]])
            raise ContradictionError(
                f"episode {episode}, step {step} (counting from 0): potential {level:g} has probability 0 under this "
                "machine and grounder; is it the task that these episodes were recorded with?",
                episode,
                step,
            )
        return total

    def batch_log_likelihood(
        self, batch: EpisodeBatch, symbols: Tensor, method: ChainMethod = "auto"
    ) -> tuple[Tensor, Tensor]:
        """(batch,) log-likelihoods and (time, batch) likelihoods of steps, from what `ground_batch` gives."""
        return self._chain(batch, symbols, True, method).log_likelihood(self._start(batch))

    def batch_rewards(self, batch: EpisodeBatch, symbols: Tensor, method: ChainMethod = "auto") -> Tensor:
        """(batch, time, potentials) open-loop reward probabilities, from what `ground_batch` gives."""
        return self._open_loop(batch, symbols, method) @ self.machine.reward_probs()

    def crisp(self, observations: Values, lengths: Tensor | Sequence[int] | None = None) -> Crisp:
        """Symbolic sequences by arg-max (paper, end of "Definition and Notations"); -1 at padding."""
        observations = self._tensor(observations)
        batch = pack(observations, lengths)
        with torch.no_grad():
            beliefs = self.forward(observations, lengths)
        chosen = (self.letters(beliefs.symbols), beliefs.states.argmax(-1), beliefs.rewards.argmax(-1))
        return Crisp(*(torch.where(batch.mask, values, -1) for values in chosen))

    def of_task(self, number: int) -> NeuralRewardMachine:
        """The model of one of many tasks; it shares the grounder."""
        tasks = self.tasks
        return self if tasks is None else NeuralRewardMachine(self.grounder, tasks.machines[number], self.emission)

    def initial_belief(self, batch: int = 1) -> Tensor:
        """(batch, states) certain of the initial state."""
        return self.machine.start.expand(batch, -1)

    def step(
        self,
        observation: Values,
        belief: Values | None = None,
        level: Values | None = None,
        carry: Tensor | None = None,
    ) -> Step:
        """Read one observation (batch, …) from a belief (batch, states); the initial one when none is given.

        With `level` (batch,), the index of the potential that came with the observation, the new belief is conditioned
        on it; without, it is the open-loop belief. A recurrent grounder goes on from the `carry` of the step before.
        """
        observation = self._tensor(observation)
        if self.recurrent and belief is not None and carry is None:
            raise EpisodeError(
                "a recurrent grounder goes on from its own state too: model.step(observation, step.belief, "
                "carry=step.carry)"
            )
        symbols, carry = self.read(observation, carry)
        start = self.initial_belief(len(observation))
        before = start if belief is None else as_tensor(belief, "beliefs", like=start)
        if before.shape != start.shape:
            raise EpisodeError(f"beliefs have shape {tuple(before.shape)}; {tuple(start.shape)} is needed")
        after = self.machine.step(before, self.letter_probs(symbols))
        emission = self.machine.reward_probs()
        rewards = after @ emission
        if level is not None:
            level = as_tensor(level, "levels").to(after.device).long()
            if level.shape != (len(observation),):
                raise EpisodeError(f"potentials have shape {tuple(level.shape)}; ({len(observation)},) is needed")
            self._check_levels(level, "row")
            weighed = after * emission.t()[level]
            likelihood = weighed.sum(-1, keepdim=True)
            if bool((likelihood <= 0).any()):
                row = int((likelihood[:, 0] <= 0).nonzero()[0])
                value = float(self.machine.levels[level[row]])
                raise ContradictionError(
                    f"row {row}: potential {value:g} has probability 0 after this observation and belief", row, 0
                )
            after = weighed / likelihood
        return Step(symbols, after, rewards, carry if self.recurrent else None)

    def _chain(
        self, batch: EpisodeBatch, symbols: Tensor, observed: bool, method: ChainMethod
    ) -> DenseChain | SparseChain:
        """The steps of a batch; with `observed`, states are weighed by the potentials that were seen."""
        return self.machine.chain(self.letter_probs(symbols), self.rows(batch), batch, observed, method)

    def _open_loop(self, batch: EpisodeBatch, symbols: Tensor, method: ChainMethod) -> Tensor:
        """(batch, time, states) beliefs that no reward informs."""
        states = self._chain(batch, symbols, False, method).propagate(self._start(batch)).transpose(0, 1)
        # Rounding lets the mass drift over thousands of steps.
        return states / states.sum(-1, keepdim=True)

    def _start(self, batch: EpisodeBatch) -> Tensor:
        return self.machine.starts(batch)

    def _check_levels(self, levels: Tensor, axes: str) -> None:
        count = len(self.machine.levels)
        wrong = (levels < 0) | (levels >= count)
        if bool(wrong.any()):
            place = [int(number) for number in wrong.nonzero()[0]]
            where = ", ".join(f"{axis} {number}" for axis, number in zip(axes.split(", "), place, strict=True))
            raise EpisodeError(
                f"{where} (counting from 0): potential index {int(levels[tuple(place)])}; "
                f"the machine has potentials 0 to {count - 1}: {LevelCodec(self.machine.levels)}"
            )
