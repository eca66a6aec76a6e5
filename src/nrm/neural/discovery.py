"""The machine of recorded episodes, whose symbols are given or not (paper, "Automata Learning" and "Pure Learning").

Every distinct observation is first a letter of its own; letters that the learned machine treats alike are one symbol,
and a grounder learns to recognise them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from nrm.errors import LearningError
from nrm.inference import Certainty, Evidence, Guess, Hypothesis, LetterTrace, following, guess_formula, learn_machine
from nrm.machines import Alphabet, MooreMachine
from nrm.neural.buffer import Episode, EpisodeBuffer
from nrm.neural.config import FitConfig
from nrm.neural.continuous import GrounderFactory, continuous_grounders, ground_and_infer
from nrm.neural.episode_file import RecordedEpisodes, as_buffer
from nrm.neural.grounders import grounder_for
from nrm.neural.model import NeuralRewardMachine

MAX_LETTERS = 1024
"""Most distinct observations that can each be a letter."""
BATCH = 256
"""Observations of a step of teaching a grounder."""


@dataclass(frozen=True, eq=False)
class Inferred:
    """A machine that explains episodes, over the letters that they read."""

    hypothesis: Hypothesis
    values: NDArray[np.float64]
    """(potentials,) what the indices of its potentials stand for."""
    held_out: float | None
    """The share of held-out episodes that a machine learned from the others predicts; None where none were held out."""
    seconds: float
    """Of the processor."""
    explained: float = 1.0
    """The share of all episodes that it explains; less than all only where symbols are read by a grounder."""

    @property
    def certainty(self) -> Certainty:
        """How much of it was seen."""
        return self.hypothesis.certainty()

    def guess(self) -> Guess | None:
        """The formula that it looks like; None where it looks like none that we know."""
        return guess_formula(self.hypothesis, self.values - self.values[self.hypothesis.levels[0]])


@dataclass(frozen=True, eq=False)
class Discovery:
    """What was found."""

    model: NeuralRewardMachine
    """The grounder that was trained, and the machine, as a crisp machine over symbols s0, s1, …"""
    machine: MooreMachine
    """The same machine: minimal, over the discovered symbols."""
    observations: NDArray[np.generic]
    """(distinct, …) the distinct observations."""
    symbols: NDArray[np.int64]
    """(distinct,) the symbol of each."""
    grounded: float
    """Share of the distinct observations that the grounder recognises as that symbol."""
    inferred: Inferred
    """The machine over observations, what was seen of it, and how long it took."""


def discover(
    episodes: EpisodeBuffer | RecordedEpisodes,
    states: int,
    config: FitConfig | None = None,
    *,
    reward_noise: float = 0.0,
    label_noise: float = 0.0,
    grounder: Callable[[int], nn.Module] | None = None,
    grounder_epochs: int = 500,
) -> Discovery:
    """Learn everything from episodes; give at least as many `states` as the task may need.

    `reward_noise`, `label_noise`: how probable it is that a step shows a wrong potential, or a wrong observation;
    `grounder` makes a module for a number of symbols, by default one that fits the observations' shape. Of the
    `config`, the seed, the share of held-out episodes and the grounder's step size count. Beyond 1,024 distinct
    observations, and where most are met in one episode only, grounder and machine are learned in turns.
    """
    settings = config or FitConfig()
    buffer = as_buffer(episodes)
    if buffer.distinct > MAX_LETTERS:
        return _discover_endless(buffer, states, settings, reward_noise, label_noise, grounder)
    if not reward_noise and not label_noise and _met_once(buffer):
        # What is never met again tells nothing as a letter; but if no symbols are found, letters are what there is.
        with contextlib.suppress(UngroundedError):
            return _discover_endless(buffer, states, settings, reward_noise, label_noise, grounder)
    inferred, used = infer(buffer, states, settings, reward_noise=reward_noise, label_noise=label_noise)
    frames = buffer.observations(used)
    frames = frames.astype(np.float32) if frames.dtype == np.float64 else frames
    # Where every letter does something, none is idle.
    kept, symbols = np.unique(inferred.hypothesis.symbols, return_inverse=True)
    alphabet = Alphabet.exclusive(f"s{number}" for number in range(len(kept)))
    first = [int(np.flatnonzero(symbols == number)[0]) for number in range(len(kept))]
    whole = _machine(inferred)
    machine = whole.relettered(alphabet, first)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        net = (grounder or (lambda count: grounder_for(frames.shape[1:], count)))(len(kept))
        model = NeuralRewardMachine(net, machine)
        grounded = _teach(model, torch.from_numpy(frames), torch.from_numpy(symbols), settings, grounder_epochs)
    return Discovery(model.eval(), machine, frames, symbols, grounded, inferred)


class UngroundedError(LearningError):
    """No symbols of endless observations were found over which a machine explains the episodes."""


def _met_once(buffer: EpisodeBuffer) -> bool:
    """Whether most of many distinct observations were met in a single episode."""
    if buffer.distinct <= 64 or not len(buffer):
        return False
    met = np.bincount(np.concatenate([np.unique(episode.index) for episode in buffer]), minlength=buffer.distinct)
    return bool((met == 1).sum() > (met > 1).sum())


def _discover_endless(
    buffer: EpisodeBuffer,
    states: int,
    settings: FitConfig,
    reward_noise: float,
    label_noise: float,
    grounder: GrounderFactory | None,
) -> Discovery:
    """The same where observations are too many to be letters."""
    if reward_noise or label_noise:
        raise LearningError(
            f"the episodes hold {buffer.distinct} distinct observations, too many to be letters (at most "
            f"{MAX_LETTERS}); symbols are then learned with the machine, and that takes rewards and observations to be "
            f"right (reward noise 0, not {reward_noise:g}; label noise 0, not {label_noise:g}). Round the observations"
        )
    initial = _initial(buffer)
    # The potential of the beginning comes first.
    order = np.argsort(np.arange(len(buffer.levels)) != initial, kind="stable")
    place = np.argsort(order)
    traces = [LetterTrace(episode.index, place[episode.levels]) for episode in buffer]
    _check_shows(traces, 0)
    frames = buffer.observations(np.arange(buffer.distinct))
    frames = frames.astype(np.float32) if frames.dtype == np.float64 else frames
    began = time.process_time()
    make = grounder or continuous_grounders(frames.shape[1:])
    found = ground_and_infer(torch.from_numpy(frames), traces, buffer.levels[order], states, make, settings.seed)
    seconds = time.process_time() - began
    if found is None:
        raise UngroundedError(
            f"no symbols were found over which a machine of at most {states} states explains the {len(traces)} "
            f"episodes, whose {buffer.distinct} distinct observations are too many to be letters; record more "
            "episodes, give it more states, or take another grounder"
        )
    known = replace(found.hypothesis, levels=order[found.hypothesis.levels])
    inferred = Inferred(known, buffer.levels, found.held_out, seconds, found.explained)
    alphabet = Alphabet.exclusive(f"s{number}" for number in range(known.letters))
    machine = known.machine(buffer.levels, alphabet.symbols)
    model = NeuralRewardMachine(found.grounder, machine).eval()
    return Discovery(model, machine, frames, found.read(torch.from_numpy(frames)), 1.0, inferred)


def infer(
    episodes: EpisodeBuffer,
    states: int,
    config: FitConfig | None = None,
    *,
    reward_noise: float = 0.0,
    label_noise: float = 0.0,
    letters: Callable[[Episode], NDArray[np.int64]] = lambda episode: episode.index,
) -> tuple[Inferred, NDArray[np.int64]]:
    """The machine of some episodes, and what its letters (n,) stand for: numbers of observations, or of `letters`.

    `letters` says what an episode read, if not its observations. Errors name episodes that contradict each other, and
    machines that would need more states.
    """
    initial = _initial(episodes)
    settings = config or FitConfig()
    read = [letters(episode) for episode in episodes]
    used = np.unique(np.concatenate(read))
    traces = [
        LetterTrace(np.searchsorted(used, letter), episode.levels)
        for letter, episode in zip(read, episodes, strict=True)
    ]
    _check_shows(traces, initial)

    def evidence(rows: Sequence[int]) -> Evidence:
        return Evidence.of(
            [traces[row] for row in rows], len(used), len(episodes.levels), initial, reward_noise, label_noise
        )

    began = time.process_time()
    learned, held = episodes.split(settings.held_out, torch.Generator().manual_seed(settings.seed))
    share = None
    if held:
        part, later = learn_machine(evidence(learned), states), evidence(held)
        wrong = following(part, later).said != later.levels
        share = float((np.add.reduceat(wrong, later.begun) == 0).mean())
    whole = learn_machine(evidence(range(len(traces))), states)
    return Inferred(whole, episodes.levels, share, time.process_time() - began), used


def _initial(episodes: EpisodeBuffer) -> int:
    """The index of the potential at which episodes begin."""
    if not len(episodes):
        raise LearningError("the buffer is empty; add episodes first")
    if episodes.codec.initial is None:
        raise LearningError(
            "to learn a machine, the initial potential must be known: EpisodeBuffer(potentials, initial)"
        )
    return int(episodes.codec.nearest(np.float64(episodes.codec.initial)))


def _check_shows(traces: Sequence[LetterTrace], initial: int) -> None:
    """Raise `LearningError` where the potential never changes."""
    if all(bool((trace.levels == initial).all()) for trace in traces):
        raise LearningError(
            f"no reward of the {len(traces)} episodes differs from zero, so they show nothing of a task; record some "
            "in which the potential changes"
        )


def _machine(inferred: Inferred) -> MooreMachine:
    """The machine over all letters."""
    names = tuple(f"o{number}" for number in range(inferred.hypothesis.letters))
    return inferred.hypothesis.machine(inferred.values, names)


def over_alphabet(inferred: Inferred, used: NDArray[np.int64], alphabet: Alphabet) -> MooreMachine:
    """The machine over an alphabet some of whose letters (n,) were read; those that were not do nothing."""
    whole = _machine(inferred)
    letter_class = np.full(alphabet.size, whole.classes, dtype=np.int32)
    letter_class[used] = whole.letter_class
    stay = np.arange(whole.states, dtype=np.int32)[:, None]
    columns = np.concatenate([whole.columns, stay], 1)
    return MooreMachine.from_table(alphabet, columns[:, letter_class], whole.accepting, whole.outputs, whole.initial)


def _teach(
    model: NeuralRewardMachine, frames: torch.Tensor, symbols: torch.Tensor, settings: FitConfig, epochs: int
) -> float:
    """Train the grounder on known symbols; the share that it then recognises."""
    optimizer = torch.optim.Adam(model.grounder.parameters(), lr=settings.learning_rate)
    generator = torch.Generator().manual_seed(settings.seed)

    def loss(rows: torch.Tensor) -> torch.Tensor:
        true = model.ground(frames[rows], check=False).gather(1, symbols[rows, None])
        return -true.clamp_min(1e-9).log().mean()

    everything = torch.arange(len(frames))
    model.grounder.train()
    for _ in range(epochs):
        whole = len(frames) <= BATCH
        rows = everything if whole else torch.randperm(len(frames), generator=generator)[:BATCH]
        optimizer.zero_grad(set_to_none=True)
        found = loss(rows)
        if float(found.detach()) < 0.01 and (whole or _recognised(model, frames, symbols) == 1.0):
            break
        found.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    model.grounder.eval()
    return _recognised(model, frames, symbols)


@torch.no_grad()
def _recognised(model: NeuralRewardMachine, frames: torch.Tensor, symbols: torch.Tensor) -> float:
    """The share of frames whose symbol a grounder says."""
    said = torch.cat([model.ground(part).argmax(-1) for part in torch.split(frames, BATCH)])
    return float((said == symbols).double().mean())
