"""Symbols and machine in turns, where observations cannot be enumerated.

Clusters of what a grounder sees alike are letters; a machine is learned over them by state merging, and the grounder
by expectation-maximisation with that machine.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from nrm.errors import ContradictionError
from nrm.inference import IDLE, Evidence, Hypothesis, LetterTrace, TooManyStatesError, learn_machine, prefix_tree
from nrm.machines import MooreMachine
from nrm.neural.config import FitConfig
from nrm.neural.descent import LearningProblem
from nrm.neural.em.distillation import Distiller, finish, last_layer
from nrm.neural.em.network import network_attempt
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.grounders import grounder_for
from nrm.neural.model import NeuralRewardMachine
from nrm.neural.signatures import LevelSteps, centres, learn_signatures, nearest, signatures

ENOUGH = 0.995
"""Share of the episodes that are explained when the turns end."""
ROUNDS = 3
"""Turns of grounder and machine."""

GrounderFactory = Callable[[int], nn.Module]
"""Makes a fresh grounder with so many outputs."""


def continuous_grounders(shape: Sequence[int]) -> GrounderFactory:
    """Makes grounders for endless observations of a shape; of images, those that learn where to look."""
    return lambda symbols: grounder_for(shape, symbols, endless=True, one_place=True)


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
        """(n,) the symbols of observations (n, …)."""
        return arg_max(self.grounder, frames)


@torch.no_grad()
def arg_max(grounder: nn.Module, frames: Tensor) -> NDArray[np.int64]:
    """(n,) the most probable symbols of observations (n, …)."""
    if not len(frames):
        return np.zeros(0, dtype=np.int64)
    said = [grounder(part).argmax(-1) for part in torch.split(frames, 1024)]
    result: NDArray[np.int64] = torch.cat(said).numpy()
    return result


def ground_and_infer(
    frames: Tensor,
    traces: Sequence[LetterTrace],
    values: NDArray[np.float64],
    states: int,
    make: GrounderFactory,
    seed: int,
    known: Grounded | None = None,
) -> Grounded | None:
    """Symbols and machine of episodes that observe frames (n, …); None where nothing was found that explains any.

    `traces`: numbers of frames in place of letters, and indices of potentials (potentials,) `values`, the first of
    which is that of the beginning; `states`: most states of the machine; `make`: makes grounders; `known`: what was
    found before, to go on from.
    """
    problem = _Problem(frames, LetteredEpisodes(traces, len(values)), values, states)
    best: Grounded | None = None
    with torch.random.fork_rng(devices=[]):
        for attempt in range(3 + (known is not None)):  # grounders that begin anew
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
    return best


@dataclass(frozen=True, eq=False)
class _Problem:
    """Episodes to be explained."""

    frames: Tensor
    episodes: LetteredEpisodes
    values: NDArray[np.float64]
    states: int

    def from_nothing(self, make: GrounderFactory, generator: torch.Generator) -> Grounded | None:
        """From the changes of potential to looks, from looks to symbols."""
        steps = self._steps()
        if not bool(steps.changed.any()):
            return None
        answers = make(steps.levels**2)
        learn_signatures(answers, steps, generator)
        found = self._looks(*signatures(answers, steps))
        if found is None:
            return None
        letters, read = found
        # Looks that the machine treats alike are one symbol.
        symbols = read.hypothesis.symbols[letters]
        count = read.hypothesis.symbol_count
        grounder = make(count)
        _take_body(grounder, answers, self.frames[:1])
        self._teach(grounder, symbols, count, generator)
        return self.in_turns(grounder, count, generator)

    def _steps(self) -> LevelSteps:
        traces = self.episodes.traces
        seen, after = (torch.from_numpy(np.concatenate([trace[part] for trace in traces])) for part in (0, 1))
        before = torch.from_numpy(np.concatenate([np.append(0, trace.levels[:-1]) for trace in traces]))
        return LevelSteps(self.frames, seen, before, after, len(self.values))

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
            read = self.episodes.machine(letters, count + 1, self.states)
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
        model = NeuralRewardMachine(grounder.eval(), _placeholder(count))
        if not finish(model, self.frames[rows], wanted):
            distiller = Distiller(model, FitConfig().learning_rate, generator)
            distiller.teach(self.frames[rows], wanted, torch.ones(size), 12)
        grounder.eval()

    def in_turns(self, grounder: nn.Module, count: int, generator: torch.Generator) -> Grounded | None:
        """Machine and grounder in turns, from a grounder of `count` symbols; the pair that explains most."""
        best: Grounded | None = None
        for turn in range(ROUNDS):
            letters = arg_max(grounder, self.frames)
            read = self.episodes.machine(letters, count, self.states)
            if read is not None and (best is None or read.explained > best.explained):
                best = Grounded(copy.deepcopy(grounder), read.hypothesis, read.explained, read.held_out)
            if best is None or best.explained >= ENOUGH or turn == ROUNDS - 1:
                break
            self._ground(grounder, best.hypothesis, generator)
        return best

    def _ground(self, grounder: nn.Module, known: Hypothesis, generator: torch.Generator) -> None:
        """Expectation-maximisation with a machine, on the episodes that some symbols can explain."""
        names = tuple(f"s{number}" for number in range(known.letters))
        model = NeuralRewardMachine(grounder, known.machine(self.values, names))
        levels = model.machine.levels.numpy()
        place = np.abs(self.values[:, None] - levels).argmin(1)
        shown = np.isclose(levels[place], self.values)
        rows = [row for row, trace in enumerate(self.episodes.traces) if bool(shown[trace.levels].all())]
        if not rows:
            return
        whole = self._batch(rows, place)
        even = torch.full((len(whole.observations), known.letters), 1.0 / known.letters)
        _, likelihoods = model.batch_log_likelihood(whole, even)
        possible = ((likelihoods.t() > 0) | ~whole.mask).all(1).nonzero()[:, 0]
        if len(possible) < HELD_OUT:
            return
        held = torch.arange(len(possible)) % HELD_OUT == 0
        parts = [whole.pick(possible[chosen]) for chosen in (~held, held)]
        problem = LearningProblem(model, parts[0], parts[1], parts[0], None)
        config = FitConfig(epochs=160)
        network_attempt([problem], config, 0, None, config.target, generator)

    def _batch(self, rows: list[int], place: NDArray[np.int64]) -> EpisodeBatch:
        """Some episodes as tensors; place: (potentials,) the machine's number of each potential."""
        chosen = [self.episodes.traces[row] for row in rows]
        lengths = np.array([len(trace.letters) for trace in chosen])
        seen = np.zeros((len(chosen), int(lengths.max())), dtype=np.int64)
        levels = np.zeros_like(seen)
        for row, trace in enumerate(chosen):
            seen[row, : lengths[row]], levels[row, : lengths[row]] = trace.letters, place[trace.levels]
        return EpisodeBatch(self.frames, *map(torch.from_numpy, (seen, levels, lengths)))


def _take_body(grounder: nn.Module, other: nn.Module, frames: Tensor) -> None:
    """Let a fresh grounder see as another does: all of its parameters but those of the last layer."""
    own = last_layer(grounder, frames)[0]
    head = {id(value) for value in own.parameters()}
    names = {name for name, value in grounder.named_parameters() if id(value) in head}
    body = {name: value for name, value in other.state_dict().items() if name not in names}
    grounder.load_state_dict(body, strict=False)


def _placeholder(count: int) -> MooreMachine:
    """A machine over so many symbols in which nothing happens, for teaching alone."""
    names = tuple(f"s{number}" for number in range(count))
    return Hypothesis.blank(count, 0).machine(np.zeros(1), names)


HELD_OUT = 5
"""Every so manieth episode is held out, to see whether a machine learned from the others explains it."""


class Read(NamedTuple):
    """A machine over letters."""

    hypothesis: Hypothesis
    explained: float
    """The share of all episodes whose potentials it says."""
    held_out: float
    """The share of held-out episodes that a machine learned from the others explains."""


class LetteredEpisodes:
    """Episodes of frames, to be read with one alphabet of letters after another."""

    def __init__(self, traces: Sequence[LetterTrace], levels: int) -> None:
        """`traces`: with numbers of frames in place of letters; `levels`: how many there are."""
        self.traces = traces
        self._levels = levels

    def evidence(self, letters: NDArray[np.int64], count: int, rows: Sequence[int] | None = None) -> Evidence:
        """Some episodes, read with the letters (frames,) of an alphabet of `count`."""
        chosen = self.traces if rows is None else [self.traces[row] for row in rows]
        read = [LetterTrace(letters[trace.letters], trace.levels) for trace in chosen]
        return Evidence.of(read, count, self._levels, 0)

    def explained(self, known: Hypothesis, letters: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(episodes,) whether a machine says all of an episode's potentials."""
        evidence = self.evidence(letters, known.letters)
        return _all_right(known, evidence)

    def machine(self, letters: NDArray[np.int64], count: int, states: int) -> Read | None:
        """The machine over some letters, of which 0 does nothing, misread episodes set aside; None if none fits."""
        clear = self._clear(letters, count)
        if clear is None:
            return None
        held = [row for row in clear if row % HELD_OUT == 0]
        rest = [row for row in clear if row % HELD_OUT]
        if not rest or not held:
            held = rest = clear
        try:
            part = learn_machine(self.evidence(letters, count, rest), states)
            whole = learn_machine(self.evidence(letters, count, clear), states)
        except (TooManyStatesError, ContradictionError):
            return None
        share = float(_all_right(part, self.evidence(letters, count, held)).mean())
        return Read(whole, float(self.explained(whole, letters).mean()), share)

    def _clear(self, letters: NDArray[np.int64], count: int) -> list[int] | None:
        """The episodes in which nothing happens at the idle letter, and equal histories show equal potentials."""
        rows = list(range(len(self.traces)))
        active = tuple(range(IDLE + 1, count))
        while rows:
            evidence = self.evidence(letters, count, rows)
            before = np.concatenate([[0], evidence.levels[:-1]])
            before[evidence.begun] = evidence.initial
            odd = (before != evidence.levels) & (evidence.letters == IDLE)
            tree = prefix_tree(evidence, active)
            odd |= tree.counts.argmax(1)[tree.of_step] != evidence.levels
            if not odd.any():
                return rows
            wrong = np.logical_or.reduceat(odd, evidence.begun)
            rows = [row for row, label_noise in zip(rows, wrong.tolist(), strict=True) if not label_noise]
            # Letters of which more are misread tell nothing.
            if len(rows) < 0.8 * len(self.traces):
                return None
        return None


def _all_right(known: Hypothesis, evidence: Evidence) -> NDArray[np.bool_]:
    wrong = known.levels[known.follow(evidence)] != evidence.levels
    result: NDArray[np.bool_] = np.add.reduceat(wrong, evidence.begun) == 0
    return result
