"""The neural reward machine: a grounder and a probabilistic Moore machine (paper, "Neural Reward Machines")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nrm.errors import AlphabetError, ContradictionError, EpisodeError
from nrm.machines import LevelCodec, MachineLike, MooreMachine, TaskSet, machine_or_tasks
from nrm.neural.buffer import UNKNOWN
from nrm.neural.emission import EMISSIONS, Emission, Values, as_tensor, check_finite
from nrm.neural.episodes import EpisodeBatch, gathered, pack
from nrm.neural.grounders.registry import ListedReading, PlainReading, RecurrentGrounder
from nrm.neural.moore import ProbabilisticMoore
from nrm.neural.recursion import DenseChain, SparseChain
from nrm.neural.task_machines import TaskMachines


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


class Step(NamedTuple):
    """One step of acting."""

    symbols: Tensor
    """(batch, symbols)"""
    belief: Tensor
    """(batch, states)"""
    rewards: Tensor
    """(batch, potentials)"""
    carry: Tensor
    """(batch, width) the grounder's state, for the next step; of no width unless it is recurrent."""


class NeuralRewardMachine(nn.Module):
    """A grounder and a machine; each part may be known or learned.

    `grounder` is a module from observations (n, …) to probabilities. With `emission="categorical"` these are over the
    letters of the alphabet; for propositions, over their 2^n combinations. With `"independent"` there is one
    probability per proposition. A `RecurrentGrounder` reads whole episodes.
    """

    def __init__(
        self,
        grounder: nn.Module,
        machine: ProbabilisticMoore | MachineLike | TaskSet,
        emission: Emission = "categorical",
    ) -> None:
        super().__init__()
        if emission not in EMISSIONS:
            raise AlphabetError(f"an emission is 'categorical' or 'independent', not '{emission}'")
        self.grounder = grounder
        self.machine = _module(machine, emission)
        self.emission: Emission = emission
        self.distribution = EMISSIONS[emission](self.machine.alphabet, self.machine.moved_by_propositions)
        """How what the grounder says is read."""
        self.feature_names: tuple[str, ...] | None = None
        """Names of the features that are read, if they were learned from a table."""

    @classmethod
    def made(
        cls,
        machine: MachineLike | TaskSet,
        make: Callable[[int, bool], nn.Module],
        emission: Emission | None = None,
    ) -> NeuralRewardMachine:
        """A model with a new grounder: `make(symbols, independent)`, for so many numbers an observation.

        By default one probability for each proposition where a letter each would be too many.
        """
        known = machine_or_tasks(machine)
        alphabet = known.alphabet
        chosen: Emission = emission or ("categorical" if alphabet.is_small else "independent")
        said = EMISSIONS[chosen](alphabet)
        return cls(make(said.outputs, said.independent), known, chosen)

    @property
    def reading(self) -> PlainReading | RecurrentGrounder:
        """How the grounder reads episodes."""
        return self.grounder if isinstance(self.grounder, RecurrentGrounder) else PlainReading(self.grounder)

    def reading_on(self, frames: Tensor | None) -> PlainReading | RecurrentGrounder | ListedReading:
        """How it reads steps where an environment lists its observations `frames` (n, …), or does not."""
        return self.reading if frames is None else ListedReading(self.reading, frames)

    @property
    def tasks(self) -> TaskSet | None:
        """The task set, if there are many tasks."""
        return self.machine.tasks

    def ground(self, observations: Values, check: bool = True) -> Tensor:
        """(n, symbols) probabilities of symbols for observations (n, …)."""
        observations = self._tensor(observations)
        if observations.dim() < 1:
            raise EpisodeError("one number is no list of observations; (n, …) is needed")
        self.reading.check_alone()
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
    def alone(self, observations: Tensor) -> Tensor | None:
        """(n, symbols) what the grounder says about single observations; None if it depends on those before."""
        return self.reading.settled(self.reading.encode(observations))

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
            wanted = len(observations), reading.width
            raise EpisodeError(f"the grounder's state has shape {tuple(before.shape)}; {wanted} is needed")
        symbols, after = reading.read(reading.encode(observations), before)
        self._check_symbols(symbols, observations, len(observations), check)
        return symbols, after

    def letter_probs(self, symbols: Tensor) -> Tensor:
        """What the machine moves by, from what the grounder says (…, symbols): see `LetterDistribution`."""
        return self.distribution.letter_probs(symbols).to(self.machine.dtype)

    def letters(self, symbols: Tensor) -> Tensor:
        """(…) the most probable letter for each row of grounder outputs (…, symbols)."""
        return self.distribution.letters(symbols)

    def forward(self, observations: Values, lengths: Tensor | Sequence[int] | None = None) -> Beliefs:
        """Probabilities of symbols, states and rewards for padded observations (batch, time, …).

        Open-loop: received rewards are not read.
        """
        batch = pack(self._tensor(observations), lengths)
        symbols = self.ground_batch(batch)
        states = self._open_loop(batch, symbols)
        mask = batch.mask.unsqueeze(-1)
        states = states * mask
        return Beliefs(gathered(symbols, self.rows(batch)) * mask, states, states @ self.machine.rewards)

    def filter(
        self,
        observations: Values,
        levels: Values,
        lengths: Tensor | Sequence[int] | None = None,
        evidence: Values | None = None,
    ) -> Filtered:
        """Beliefs filtered by the potentials (batch, time) so far: indices into `machine.levels`, -1 if unknown.

        `evidence`: (n, potentials) weights for indices beyond the last potential; see `EpisodeBuffer.add`.
        """
        batch = self._known(observations, levels, lengths, evidence)
        symbols = self.ground_batch(batch)
        states, steps = self._chain(batch, symbols, True).filtered(self.machine.starts(batch))
        return Filtered(states.transpose(0, 1) * batch.mask.unsqueeze(-1), steps.t() * batch.mask)

    def log_likelihood(
        self,
        observations: Values,
        levels: Values,
        lengths: Tensor | Sequence[int] | None = None,
        evidence: Values | None = None,
    ) -> Tensor:
        """(batch,) log-probability of each whole sequence of potentials, given the observations.

        Potentials are given as in `filter`. An impossible sequence is an error that names the episode and step.
        """
        batch = self._known(observations, levels, lengths, evidence)
        total, steps = self.batch_log_likelihood(batch, self.ground_batch(batch))
        impossible = (steps.t() <= 0) & batch.mask
        if bool(impossible.any()):
            episode, step = (int(number) for number in impossible.nonzero()[0])
            level = LevelCodec(self.machine.levels[batch.allowed(episode, step)])
            raise ContradictionError(
                f"episode {episode}, step {step} (counting from 0): potential {level} has probability 0 under this "
                "machine and grounder; is it the task that these episodes were recorded with?",
                episode,
                step,
            )
        return total

    def batch_log_likelihood(self, batch: EpisodeBatch, symbols: Tensor) -> tuple[Tensor, Tensor]:
        """(batch,) log-likelihoods and (time, batch) likelihoods of steps, from what `ground_batch` gives."""
        return self._chain(batch, symbols, True).log_likelihood(self.machine.starts(batch))

    def batch_rewards(self, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
        """(batch, time, potentials) open-loop reward probabilities, from what `ground_batch` gives."""
        return self._open_loop(batch, symbols) @ self.machine.rewards

    def of_task(self, number: int) -> NeuralRewardMachine:
        """The model of one of many tasks, with the same grounder."""
        return NeuralRewardMachine(self.grounder, self.machine.of_task(number), self.emission)

    def initial_belief(self, batch: int = 1) -> Tensor:
        """(batch, states) all probability on the initial state."""
        return self.machine.start.expand(batch, -1)

    def step(self, observation: Values, belief: Values | None = None, carry: Tensor | None = None) -> Step:
        """Read one observation (batch, …) from a belief (batch, states), by default the initial one.

        A recurrent grounder continues from the `carry` of the previous step.
        """
        observation = self._tensor(observation)
        carry = self.reading.resume(len(observation), belief is not None) if carry is None else carry
        symbols, carry = self.read(observation, carry)
        start = self.initial_belief(len(observation))
        before = start if belief is None else as_tensor(belief, "beliefs", like=start)
        if before.shape != start.shape:
            raise EpisodeError(f"beliefs have shape {tuple(before.shape)}; {tuple(start.shape)} is needed")
        after = self.machine.step(before, self.letter_probs(symbols))
        return Step(symbols, after, after @ self.machine.rewards, carry)

    def _chain(self, batch: EpisodeBatch, symbols: Tensor, observed: bool) -> DenseChain | SparseChain:
        """The steps of a batch; with `observed`, states are weighed by the potentials that were seen."""
        return self.machine.chain(self.letter_probs(symbols), self.rows(batch), batch, observed)

    def _open_loop(self, batch: EpisodeBatch, symbols: Tensor) -> Tensor:
        """(batch, time, states) beliefs that no reward informs."""
        states = self._chain(batch, symbols, False).propagate(self.machine.starts(batch)).transpose(0, 1)
        # Rounding lets the mass drift over thousands of steps.
        return states / states.sum(-1, keepdim=True)

    def _known(
        self,
        observations: Values,
        levels: Values,
        lengths: Tensor | Sequence[int] | None,
        evidence: Values | None,
    ) -> EpisodeBatch:
        """A batch with what is known of each step, checked."""
        batch = pack(self._tensor(observations), lengths, levels)
        codes, count = batch.levels, len(self.machine.levels)
        further = torch.empty(0, count) if evidence is None else as_tensor(evidence, "evidence").view(-1, count)
        wrong = (codes < UNKNOWN) | (codes >= count + len(further))
        if bool(wrong.any()):
            episode, step = wrong.nonzero()[0].tolist()
            raise EpisodeError(
                f"episode {episode}, step {step} (counting from 0): potential index {int(codes[episode, step])}; "
                f"the machine has potentials 0 to {count - 1}: {LevelCodec(self.machine.levels)}"
            )
        if not len(further) and bool((codes >= 0).all()):
            return batch
        rows = torch.cat([torch.eye(count), further, torch.ones(1, count)]).to(codes.device)
        return batch._replace(levels=torch.where(codes < 0, len(rows) - 1, codes), evidence=rows)

    def _said(self, batch: EpisodeBatch, encoded: Tensor, check: bool) -> Tensor:
        symbols = self.reading.said(batch, encoded)
        self._check_symbols(symbols, batch.observations, self.reading.count(batch), check)
        return symbols

    def _check_symbols(self, symbols: Tensor, observations: Tensor, rows: int, check: bool) -> None:
        """Raise unless symbols are (rows, symbols) and, with `check`, probabilities."""
        expected = self.distribution.outputs
        if symbols.shape != (rows, expected):
            found = f"observations of shape {tuple(observations.shape)} into {tuple(symbols.shape)}"
            raise AlphabetError(f"the grounder turned {found}; its alphabet needs ({rows}, {expected})")
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
    known = machine_or_tasks(machine)
    return _of_machine(known, emission) if isinstance(known, MooreMachine) else _of_tasks(known, emission)


def _of_machine(machine: MooreMachine, emission: Emission) -> ProbabilisticMoore:
    joint = True if emission == "categorical" and machine.alphabet.is_listable else None
    return ProbabilisticMoore.from_machine(machine, joint=joint)


def _of_tasks(tasks: TaskSet, emission: Emission) -> ProbabilisticMoore:
    return TaskMachines(tasks, counted=emission == "independent")
