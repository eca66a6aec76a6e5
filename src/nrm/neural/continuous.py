"""Symbols and machine in turns, where observations cannot be enumerated.

What observations do to the potential is learned first, as supervised learning. Clusters of what a grounder sees alike
are letters; a machine is learned over them by state merging, and the grounder by expectation-maximisation with that
machine.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from nrm.errors import ContradictionError, LearningError, LimitError
from nrm.inference import IDLE, Episode, Evidence, Hypothesis, TooManyStatesError, explained, learn_machine, prefix_tree
from nrm.neural.config import FitConfig
from nrm.neural.descent import LearningProblem, take_step
from nrm.neural.em.network import network_attempt
from nrm.neural.em.steps import Distiller, finish, last_layer
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.grounders import grounder_for
from nrm.neural.model import NeuralRewardMachine

MAX_LETTERS = 1024
"""Distinct observations up to which each is a letter of its own."""
ENOUGH = 0.995
"""Share of the episodes that are explained when the turns end."""
HELD_OUT = 5
"""Every so manieth episode is held out, to see whether a machine learned from the others explains it."""

GrounderFactory = Callable[[int], nn.Module]
"""Makes a fresh grounder with so many outputs."""


class UnexplainedError(LearningError):
    """No symbols were found over which a machine explains the episodes."""


def continuous_grounders(shape: Sequence[int]) -> GrounderFactory:
    """Makes grounders for continuous observations of a shape; of images, those that learn where to look."""
    return lambda symbols: grounder_for(shape, symbols, continuous=True, one_place=True)


@dataclass(frozen=True, eq=False)
class Grounded:
    """A grounder of symbols that nobody named, and a machine over them."""

    grounder: nn.Module
    """From observations (n, …) to probabilities (n, symbols); symbol 0 does nothing."""
    hypothesis: Hypothesis
    """The machine over these symbols, as its letters."""
    explained: float
    """The share of the episodes that it explains, when symbols are read by arg-max."""
    held_out: float
    """The share of held-out episodes that a machine learned from the others explains."""

    def read(self, frames: Tensor) -> NDArray[np.int64]:
        """(n,) the most probable symbols of observations (n, …)."""
        return _arg_max(self.grounder, frames)


@torch.no_grad()
def _arg_max(grounder: nn.Module, frames: Tensor) -> NDArray[np.int64]:
    if not len(frames):
        return np.zeros(0, dtype=np.int64)
    said = [grounder(part).argmax(-1) for part in torch.split(frames, 1024)]
    result: NDArray[np.int64] = torch.cat(said).numpy()
    return result


def ground_and_infer(
    frames: Tensor,
    episodes: Sequence[Episode],
    values: NDArray[np.float64],
    states: int,
    make: GrounderFactory,
    seed: int,
    known: Grounded | None = None,
    noise: tuple[float, float] = (0.0, 0.0),
) -> Grounded:
    """Symbols and machine of episodes that observe frames (n, …), or `UnexplainedError`.

    `episodes`: their potentials are indices of `values` (potentials,), the first of which is that of the beginning;
    `states`: most states of the machine; `make`: makes grounders; `known`: what was found before, to go on from;
    `noise`: of rewards and of labels, for which there is no way yet.
    """
    if any(noise):
        raise LimitError(
            f"there are {len(frames)} distinct observations, too many to be letters (at most {MAX_LETTERS}); symbols "
            "are then learned with the machine, and that takes rewards and observations to be right (reward noise 0, "
            f"not {noise[0]:g}; label noise 0, not {noise[1]:g}). Round the observations, or give the symbols "
            "(--method automata-learning)"
        )
    problem = _Problem(frames, Evidence.of(episodes, len(frames), len(values), 0), values, states)
    best: Grounded | None = None
    with torch.random.fork_rng(devices=[]):
        for attempt in range(3 + (known is not None)):  # fresh grounders
            torch.manual_seed(seed + 7919 * attempt)
            generator = torch.Generator().manual_seed(seed + 7919 * attempt)
            if attempt == 0 and known is not None:
                found = problem.in_turns(copy.deepcopy(known.grounder), known.hypothesis.letters, generator)
            else:
                found = problem.from_nothing(make, generator)
            if found is not None and (best is None or found.explained > best.explained):
                best = found
            if best is not None and best.explained >= ENOUGH:
                break
    if best is None:
        raise UnexplainedError(
            f"no symbols were found over which a machine of at most {states} states explains the {len(episodes)} "
            f"episodes, whose {len(frames)} distinct observations are too many to be letters; record more episodes, "
            "give it more states, or take another grounder"
        )
    return best


@dataclass(frozen=True, eq=False)
class _Problem:
    """Episodes to be explained."""

    observations: Tensor
    evidence: Evidence
    """With numbers of observations for letters."""
    values: NDArray[np.float64]
    states: int

    def from_nothing(self, make: GrounderFactory, generator: torch.Generator) -> Grounded | None:
        """From the changes of potential to looks, from looks to symbols."""
        if not self.evidence.active:
            return None
        answers = make(self.evidence.level_count**2)
        learn_signatures(answers, self.observations, self.evidence, generator)
        found = self._looks(*signatures(answers, self.observations, self.evidence))
        if found is None:
            return None
        letters, read = found
        # Looks that the machine treats alike are one symbol.
        symbols = read.hypothesis.symbols[letters]
        count = read.hypothesis.symbol_count
        grounder = make(count)
        _take_body(grounder, answers, self.observations[:1])
        self._teach(grounder, symbols, count, generator)
        return self.in_turns(grounder, count, generator)

    def _looks(self, features: Tensor, changes: Tensor) -> tuple[NDArray[np.int64], Read] | None:
        """Letters (frames,) by looks, as few as explain held-out episodes, and the machine over them."""
        # Others change no potential, and are no letters of their own.
        active = changes > 0.1
        best: tuple[NDArray[np.int64], Read] | None = None
        if not bool(active.any()):
            return None
        for count in range(1, 13):
            middle = centres(features[active], count)
            if len(middle) < count:
                break
            letters = np.zeros(len(features), dtype=np.int64)
            letters[active.numpy()] = IDLE + 1 + nearest(features[active], middle).numpy()
            read = clear_machine(self.evidence.read(letters, count + 1), self.states)
            # Less is not worth teaching a grounder.
            if read is None or read.held_out < 0.9:
                continue
            if best is None or read.held_out > best[1].held_out:
                best = letters, read
            # No finer letters are tried then.
            if read.held_out >= 0.97:
                break
        return best

    def _teach(self, grounder: nn.Module, symbols: NDArray[np.int64], count: int, generator: torch.Generator) -> None:
        """Let a grounder say what is known of the frames."""
        known = torch.from_numpy(symbols)
        met = torch.bincount(known, minlength=count).double()
        size = min(3000, len(known))
        rows = torch.multinomial((1.0 / met)[known], size, generator=generator)
        wanted = one_hot(known[rows], count).float()
        model = _model(grounder.eval(), Hypothesis.blank(count, 0), np.zeros(1))
        if not finish(model, self.observations[rows], wanted):
            distiller = Distiller(model, FitConfig().learning_rate, generator)
            distiller.teach(self.observations[rows], wanted, torch.ones(size), 12)
        grounder.eval()

    def in_turns(self, grounder: nn.Module, count: int, generator: torch.Generator) -> Grounded | None:
        """Machine and grounder in turns, from a grounder of `count` symbols; the pair that explains most."""
        best: Grounded | None = None
        for turns_left in (2, 1, 0):
            read = clear_machine(self.evidence.read(_arg_max(grounder, self.observations), count), self.states)
            if read is not None and (best is None or read.explained > best.explained):
                best = Grounded(copy.deepcopy(grounder), *read)
            if best is None or best.explained >= ENOUGH or not turns_left:
                break
            self._ground(grounder, best.hypothesis, generator)
        return best

    def _ground(self, grounder: nn.Module, known: Hypothesis, generator: torch.Generator) -> None:
        """Expectation-maximisation with a machine, on the episodes that some symbols can explain."""
        model = _model(grounder, known, self.values)
        levels = model.machine.levels.numpy()
        place = np.abs(self.values[:, None] - levels).argmin(1)
        shown = np.isclose(levels[place], self.values)
        episodes = [episode for episode in self.evidence.episodes if bool(shown[episode.levels].all())]
        if not episodes:
            return
        placed = [replace(episode, levels=place[episode.levels]) for episode in episodes]
        whole = EpisodeBatch.of(self.observations, placed)
        even = torch.full((len(whole.observations), known.letters), 1.0 / known.letters)
        _, likelihoods = model.batch_log_likelihood(whole, even)
        possible = ((likelihoods.t() > 0) | ~whole.mask).all(1).nonzero()[:, 0]
        if len(possible) < HELD_OUT:
            return
        held = torch.arange(len(possible)) % HELD_OUT == 0
        parts = [whole.pick(possible[chosen]) for chosen in (~held, held)]
        problem = LearningProblem(model, parts[0], parts[1], parts[0], FitConfig(epochs=160, maximisation="posterior"))
        network_attempt(problem, 0, generator)


def _model(grounder: nn.Module, known: Hypothesis, values: NDArray[np.float64]) -> NeuralRewardMachine:
    names = tuple(f"s{number}" for number in range(known.letters))
    return NeuralRewardMachine(grounder, known.machine(values, names))


def _take_body(grounder: nn.Module, other: nn.Module, frames: Tensor) -> None:
    """Let a fresh grounder see as another does: all of its parameters but those of the last layer."""
    own = last_layer(grounder, frames)[0]
    head = {id(value) for value in own.parameters()}
    names = {name for name, value in grounder.named_parameters() if id(value) in head}
    body = {name: value for name, value in other.state_dict().items() if name not in names}
    grounder.load_state_dict(body, strict=False)


class Read(NamedTuple):
    """A machine over letters."""

    hypothesis: Hypothesis
    explained: float
    """The share of all episodes whose potentials it says."""
    held_out: float
    """The share of held-out episodes that a machine learned from the others explains."""


def clear_machine(evidence: Evidence, states: int) -> Read | None:
    """The machine over letters, of which 0 does nothing, wrongly read episodes set aside; None if none fits."""
    clear = _clear(evidence)
    if clear is None:
        return None
    held = [row for row in clear if row % HELD_OUT == 0]
    rest = [row for row in clear if row % HELD_OUT]
    if not rest or not held:
        held = rest = clear
    try:
        part, whole = (learn_machine(evidence.pick(rows), states) for rows in (rest, clear))
    except (TooManyStatesError, ContradictionError):
        return None
    return Read(whole, explained(whole, evidence), explained(part, evidence.pick(held)))


def _clear(evidence: Evidence) -> list[int] | None:
    """The episodes in which nothing happens at the idle letter, and equal histories show equal potentials."""
    rows = list(range(len(evidence.lengths)))
    active = tuple(range(IDLE + 1, evidence.letter_count))
    # Letters of which more are wrong tell nothing.
    while len(rows) >= 0.8 * len(evidence.lengths):
        some = evidence.pick(rows)
        tree = prefix_tree(some, active)
        odd = (some.levels_before != some.levels) & (some.letters == IDLE)
        odd |= tree.levels[tree.of_step] != some.levels
        if not odd.any():
            return rows
        wrong = np.logical_or.reduceat(odd, some.begun)
        rows = [row for row, is_wrong in zip(rows, wrong.tolist(), strict=True) if not is_wrong]
    return None


def learn_signatures(grounder: nn.Module, frames: Tensor, evidence: Evidence, generator: torch.Generator) -> float:
    """Teach a grounder with potentials * potentials outputs which potential follows which; its last loss, in nats.

    Where to look is found suddenly, after a while without any progress.
    """
    seen, before, after = map(torch.from_numpy, (evidence.letters, evidence.levels_before, evidence.levels))
    size, levels = 256, evidence.level_count
    chance = _even(before * levels + after, before != after)
    optimizer = torch.optim.Adam(grounder.parameters(), lr=0.005)
    mean = best = float("inf")
    since = 0
    grounder.train()
    for step in range(800):
        rows = torch.multinomial(chance, size, replacement=True, generator=generator)
        _, _, scores = last_layer(grounder, frames[seen[rows]])
        row = scores.view(size, levels, levels)[torch.arange(size), before[rows]]
        loss = nn.functional.cross_entropy(row, after[rows])
        now = take_step(optimizer, loss)
        mean = now if step == 0 else 0.95 * mean + (1 - 0.95) * now
        since = since + 1
        if mean < best * (1 - 0.02):
            best, since = mean, 0
        if mean < 0.01 or (step >= 120 and since >= 60):
            break
    grounder.eval()
    return mean


def _even(kind: Tensor, changed: Tensor) -> Tensor:
    """(steps,) how often each is drawn: half of the time one that changes the potential, all kinds of change evenly."""
    chance = 1.0 / torch.bincount(kind).double()[kind]
    for part in (changed, ~changed):
        total = chance[part].sum()
        chance[part] = chance[part] / total if bool(part.any()) else chance[part]
    return chance


@torch.no_grad()
def signatures(grounder: nn.Module, frames: Tensor, evidence: Evidence) -> tuple[Tensor, Tensor]:
    """(n, width) what the last layer reads of frames, and (n,) how probable each is at most to change a potential."""
    before, levels = evidence.levels_before, evidence.level_count
    left = torch.zeros(levels, dtype=torch.bool)
    left[torch.from_numpy(before[before != evidence.levels])] = True
    stays = torch.eye(levels, dtype=torch.bool)
    features, changes = [], []
    for part in torch.split(frames, 1024):
        _, reads, scores = last_layer(grounder, part)
        follows = scores.view(-1, levels, levels).softmax(-1)
        features.append(reads)
        changes.append((1.0 - follows[:, stays])[:, left].max(1).values)
    return torch.cat(features), torch.cat(changes)


def centres(features: Tensor, count: int) -> Tensor:
    """(at most count, width) centres of features (n, width): far from each other first, then k-means; deterministic."""
    rows = features[:: -(-len(features) // 2000)]
    found = rows.mean(0, keepdim=True)
    found = rows[torch.cdist(rows, found)[:, 0].argmax()][None]
    while len(found) < count:
        apart = torch.cdist(rows, found).min(1).values
        if float(apart.max()) <= 1e-6 * float(rows.abs().max().clamp_min(1e-12)):
            break
        found = torch.cat([found, rows[apart.argmax()][None]])
    for _ in range(12):
        near = nearest(rows, found)
        met = torch.bincount(near, minlength=len(found)).clamp_min(1)
        means = torch.zeros_like(found).index_add_(0, near, rows) / met[:, None]
        if torch.equal(means, found):
            break
        found = means
    return found


def nearest(features: Tensor, found: Tensor) -> Tensor:
    """(n,) the number of the centre that is nearest to each of features (n, width)."""
    return torch.cdist(features, found).argmin(1)
