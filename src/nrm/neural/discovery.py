"""The machine of recorded episodes, whose symbols are given or not (paper, "Automata Learning" and "Pure Learning").

Every distinct observation is first a letter of its own; letters that the learned machine treats alike are one symbol,
and a grounder learns to recognise them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import LearningError
from nrm.inference import (
    Certainty,
    Episode,
    Evidence,
    Guess,
    Hypothesis,
    Moves,
    following,
    guess_formula,
    learn_machine,
    matching,
)
from nrm.machines import Alphabet, MooreMachine, minimise
from nrm.neural.buffer import EpisodeBuffer
from nrm.neural.config import FitConfig
from nrm.neural.continuous import (
    MAX_LETTERS,
    GrounderFactory,
    UnexplainedError,
    continuous_grounders,
    ground_and_infer,
)
from nrm.neural.descent import take_step
from nrm.neural.episode_file import RecordedEpisodes, as_buffer
from nrm.neural.grounders import grounder_for
from nrm.neural.model import NeuralRewardMachine


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

    def machine(self) -> MooreMachine:
        """The machine over all letters."""
        names = tuple(f"o{number}" for number in range(self.hypothesis.letters))
        return self.hypothesis.machine(self.values, names)


@dataclass(frozen=True, eq=False)
class Discovery:
    """What was found."""

    model: NeuralRewardMachine
    """The grounder that was trained, and the machine, which is known exactly, over symbols s0, s1, …"""
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
    grounder: GrounderFactory | None = None,
) -> Discovery:
    """Learn symbols, machine and grounder from episodes alone.

    `states`: maximum number of machine states. `reward_noise`, `label_noise`: probability of a wrong reward, or a wrong
    observation. `grounder`: a function from a number of symbols to a module; by default one that fits the observations.
    Of `config`, the seed, the share of held-out episodes and the learning rate are used. Beyond 1,024 distinct
    observations that hardly repeat, grounder and machine are learned in turns.
    """
    settings = config or FitConfig()
    buffer = as_buffer(episodes)
    frames = buffer.table[:]
    frames = frames.astype(np.float32) if frames.dtype == np.float64 else frames
    noise = reward_noise, label_noise
    if buffer.distinct > MAX_LETTERS:
        return _discover_continuous(buffer, frames, states, settings, grounder, noise)
    if not any(noise) and _met_once(buffer):
        # What is never met again tells nothing as a letter; but if no symbols are found, letters are what there is.
        with contextlib.suppress(UnexplainedError):
            return _discover_continuous(buffer, frames, states, settings, grounder, noise)
    inferred, used = infer(buffer, states, settings, reward_noise=reward_noise, label_noise=label_noise)
    frames = frames[used]
    # Where every letter does something, none is idle.
    kept, symbols = np.unique(inferred.hypothesis.symbols, return_inverse=True)
    alphabet = Alphabet.exclusive(f"s{number}" for number in range(len(kept)))
    first = [int(np.flatnonzero(symbols == number)[0]) for number in range(len(kept))]
    machine = inferred.machine().relettered(alphabet, first)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        net = (grounder or (lambda count: grounder_for(frames.shape[1:], count)))(len(kept))
        model = NeuralRewardMachine(net, machine)
        grounded = _teach(model, torch.from_numpy(frames), torch.from_numpy(symbols), settings)
    return Discovery(model.eval(), machine, frames, symbols, grounded, inferred)


def _met_once(buffer: EpisodeBuffer) -> bool:
    """Whether most of many distinct observations were met in a single episode."""
    if buffer.distinct <= 64:
        return False
    met = np.bincount(np.concatenate([np.unique(episode.seen) for episode in buffer]))
    return bool((met == 1).sum() > (met > 1).sum())


def _discover_continuous(
    buffer: EpisodeBuffer,
    frames: NDArray[np.generic],
    states: int,
    settings: FitConfig,
    grounder: GrounderFactory | None,
    noise: tuple[float, float],
) -> Discovery:
    """The same where observations are too many to be letters."""
    initial = _initial(buffer)
    # The potential of the beginning comes first.
    order = np.argsort(np.arange(len(buffer.levels)) != initial, kind="stable")
    place = np.argsort(order)
    episodes = [replace(episode, levels=place[episode.levels]) for episode in buffer]
    began = time.process_time()
    make, seen = grounder or continuous_grounders(frames.shape[1:]), torch.from_numpy(frames)
    found = ground_and_infer(seen, episodes, buffer.levels[order], states, make, settings.seed, noise=noise)
    seconds = time.process_time() - began
    known = replace(found.hypothesis, levels=order[found.hypothesis.levels])
    inferred = Inferred(known, buffer.levels, found.held_out, seconds, found.explained)
    alphabet = Alphabet.exclusive(f"s{number}" for number in range(known.letters))
    machine = known.machine(buffer.levels, alphabet.symbols)
    model = NeuralRewardMachine(found.grounder, machine).eval()
    return Discovery(model, machine, frames, found.read(seen), 1.0, inferred)


def infer(
    episodes: EpisodeBuffer,
    states: int,
    config: FitConfig | None = None,
    *,
    reward_noise: float = 0.0,
    label_noise: float = 0.0,
    letters: Callable[[Episode], NDArray[np.int64]] = lambda episode: episode.seen,
) -> tuple[Inferred, NDArray[np.int64]]:
    """The machine of some episodes, and what its letters (n,) stand for: numbers of observations, or of `letters`.

    `letters` says what an episode read, if not its observations. Errors name episodes that contradict each other, and
    machines that would need more states.
    """
    initial = _initial(episodes)
    settings = config or FitConfig()
    read = [replace(episode, seen=letters(episode)) for episode in episodes]
    used = np.unique(np.concatenate([episode.seen for episode in read]))
    read = [replace(episode, seen=np.searchsorted(used, episode.seen)) for episode in read]
    evidence = Evidence.of(read, len(used), len(episodes.levels), initial, reward_noise, label_noise)
    began = time.process_time()
    learned, held = episodes.split(settings.held_out, torch.Generator().manual_seed(settings.seed))
    share = None
    if held:
        part, later = learn_machine(evidence.pick(learned), states), evidence.pick(held)
        wrong = following(part, later).said != later.levels
        share = float((np.add.reduceat(wrong, later.begun) == 0).mean())
    whole = learn_machine(evidence, states)
    return Inferred(whole, episodes.levels, share, time.process_time() - began), used


def _initial(episodes: EpisodeBuffer) -> int:
    """The index of the potential at which episodes begin; an error where they show nothing of a machine."""
    if not len(episodes):
        raise LearningError("the buffer is empty; add episodes first")
    if episodes.codec.initial is None:
        raise LearningError("the initial potential must be known: EpisodeBuffer(potentials, initial)")
    if episodes.evidence is not None:
        raise LearningError("to infer a machine, the potential after every step must be known exactly")
    initial = int(episodes.codec.nearest(np.float64(episodes.codec.initial)))
    if all(bool((episode.levels == initial).all()) for episode in episodes):
        raise LearningError(f"no reward of the {len(episodes)} episodes differs from zero; record some that are paid")
    return initial


def over_alphabet(inferred: Inferred, used: NDArray[np.int64], alphabet: Alphabet) -> MooreMachine:
    """The machine over an alphabet some of whose letters (n,) were read; those that were not do nothing."""
    whole = inferred.machine()
    letter_class = np.full(alphabet.size, whole.classes, dtype=np.int32)
    letter_class[used] = whole.letter_class
    stay = np.arange(whole.states, dtype=np.int32)[:, None]
    columns = np.concatenate([whole.columns, stay], 1)
    return MooreMachine.from_table(alphabet, columns[:, letter_class], whole.accepting, whole.outputs, whole.initial)


def _teach(model: NeuralRewardMachine, frames: Tensor, symbols: Tensor, settings: FitConfig) -> float:
    """Train the grounder on known symbols; the share that it then recognises."""
    optimizer = torch.optim.Adam(model.grounder.parameters(), lr=settings.learning_rate)
    generator = torch.Generator().manual_seed(settings.seed)
    size = 256
    whole = len(frames) <= size

    @torch.no_grad()
    def recognised() -> float:
        said = torch.cat([model.ground(part).argmax(-1) for part in torch.split(frames, size)])
        return float((said == symbols).double().mean())

    model.grounder.train()
    for _ in range(500):
        rows = torch.arange(len(frames)) if whole else torch.randperm(len(frames), generator=generator)[:size]
        true = model.ground(frames[rows], check=False).gather(1, symbols[rows, None])
        loss = -true.clamp_min(1e-9).log().mean()
        if float(loss.detach()) < 0.01 and (whole or recognised() == 1.0):
            break
        take_step(optimizer, loss)
    model.grounder.eval()
    return recognised()


def grounded_traces(model: NeuralRewardMachine, episodes: EpisodeBuffer) -> list[NDArray[np.int64]]:
    """The most probable letter of each step of each episode."""
    batch = episodes.batch().to(model.machine.levels.device)
    with torch.no_grad():
        letters = model.letters(model.ground_batch(batch))
    rows = letters[model.rows(batch)].cpu().numpy()
    return [row[:length] for row, length in zip(rows, batch.lengths.tolist(), strict=True)]


def renaming(machine: MooreMachine, reference: MooreMachine) -> tuple[int, ...] | None:
    """For each letter of the reference a letter of the machine, so that they behave alike; None if no map does that.

    A machine learned together with its grounder has symbols without names: it is right when some renaming makes it
    equivalent to the reference. Several letters may share a meaning, but each letter of the machine must have one:
    its letter classes and the reference's are matched one to one.
    """
    left, right = minimise(machine, by="outputs"), minimise(reference, by="outputs")
    theirs, mine = (Moves(one.columns, one.outputs, one.initial) for one in (right, left))
    chosen = matching(theirs, mine) if left.classes == right.classes else None
    if chosen is None:
        return None
    first = {number: int(np.flatnonzero(left.letter_class == number)[0]) for number in chosen}
    return tuple(first[chosen[number]] for number in right.letter_class.tolist())
