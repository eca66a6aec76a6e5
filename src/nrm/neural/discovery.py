"""Pure learning: symbols, their meaning and the machine, all from observations and rewards (paper, "Pure Learning").

Descending on grounder and machine together hardly ever succeeds. Here every distinct observation is first a letter of
its own, so that only a machine has to be learned, which works, and the smallest one that explains the episodes is
sought; letters that it treats alike are then one symbol, and a grounder learns to recognise them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from nrm.errors import LearningError
from nrm.machines import Alphabet, MooreMachine
from nrm.neural.buffer import EpisodeBuffer
from nrm.neural.config import FitConfig, FitRecord
from nrm.neural.episode_file import RecordedEpisodes, as_buffer
from nrm.neural.extraction import extract
from nrm.neural.grounders import TrueLabels, grounder_for
from nrm.neural.learning import Progress, fit
from nrm.neural.model import NeuralRewardMachine
from nrm.neural.moore import ProbabilisticMoore

MAX_LETTERS = 256
"""Most distinct observations that can each be a letter."""

SHRINKING = 6
"""Most restarts with fewer states than were found, before those that were found are taken."""


@dataclass(frozen=True, eq=False)
class Discovery:
    """What was found."""

    model: NeuralRewardMachine
    """The grounder that was trained, and the machine that was extracted, as a crisp machine over symbols s0, s1, …"""
    machine: MooreMachine
    """The same machine: minimal, over the discovered symbols."""
    observations: NDArray[np.generic]
    """(distinct, …) the distinct observations."""
    symbols: NDArray[np.int64]
    """(distinct,) the symbol of each."""
    grounded: float
    """Share of the distinct observations that the grounder recognises as that symbol."""
    record: FitRecord
    """Of learning the machine."""


def discover(
    episodes: EpisodeBuffer | RecordedEpisodes,
    states: int,
    config: FitConfig | None = None,
    *,
    grounder: Callable[[int], nn.Module] | None = None,
    grounder_epochs: int = 500,
    progress: Progress | None = None,
) -> Discovery:
    """Learn everything from episodes; give at least as many `states` as the task may need.

    `grounder` makes a module for a number of symbols; by default one that fits the observations' shape.
    """
    settings = config or FitConfig()
    letters, frames = _letters(as_buffer(episodes))
    crisp, record = _smallest(letters, len(frames), states, settings, progress)
    symbols = crisp.letter_class.astype(np.int64)
    alphabet = Alphabet.exclusive(f"s{n}" for n in range(crisp.classes))
    named = replace(crisp, alphabet=alphabet, letters=np.arange(crisp.classes, dtype=np.int32))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        net = (grounder or (lambda count: grounder_for(frames.shape[1:], count)))(crisp.classes)
        model = NeuralRewardMachine(net, named)
        grounded = _teach(model, torch.from_numpy(frames), torch.from_numpy(symbols), settings, grounder_epochs)
    return Discovery(model.eval(), named, frames, symbols, grounded, record)


def _smallest(
    letters: EpisodeBuffer, count: int, states: int, settings: FitConfig, progress: Progress | None
) -> tuple[MooreMachine, FitRecord]:
    """A machine over the letters that explains the episodes, with as few states as descent finds.

    A world lets only some observations follow others, so larger machines explain its episodes too: as long as fewer
    states than found still explain them, fewer are taken.
    """
    found: tuple[MooreMachine, FitRecord] | None = None
    while True:
        machine = ProbabilisticMoore.unknown(
            [f"o{n}" for n in range(count)], states, letters.levels, seed=settings.seed
        )
        wide = NeuralRewardMachine(TrueLabels(count), machine)
        record = fit(wide, letters, "machine", settings, progress=progress)
        crisp = extract(wide, letters)
        if found is not None and (not record.explained or crisp.states >= found[0].states):
            return found
        found = crisp, record
        if not record.explained or crisp.states == 1:
            return found
        states = crisp.states - 1
        settings = replace(settings, restarts=min(settings.restarts, SHRINKING))


def _letters(episodes: EpisodeBuffer) -> tuple[EpisodeBuffer, NDArray[np.generic]]:
    """The episodes with their distinct observations as letters, and those observations."""
    if not len(episodes):
        raise LearningError("the buffer is empty; add episodes first")
    if episodes.distinct > MAX_LETTERS:
        raise LearningError(
            f"the episodes hold {episodes.distinct} distinct observations; discovery makes each a letter and takes at "
            f"most {MAX_LETTERS}. Round or downsample the observations, or descend on both: fit(…, learn='both')"
        )
    used = np.unique(np.concatenate([episode.index for episode in episodes]))
    result = EpisodeBuffer(episodes.levels, episodes.codec.initial)
    for episode in episodes:
        result.add(np.searchsorted(used, episode.index), levels=episode.levels, symbols=episode.symbols)
    frames = episodes.observations(used)
    return result, frames.astype(np.float32) if frames.dtype == np.float64 else frames


def _teach(
    model: NeuralRewardMachine, frames: torch.Tensor, symbols: torch.Tensor, settings: FitConfig, epochs: int
) -> float:
    """Train the grounder on known symbols; the share that it then recognises."""
    optimizer = torch.optim.Adam(model.grounder.parameters(), lr=settings.learning_rate)
    model.grounder.train()
    for _ in range(epochs):
        optimizer.zero_grad(set_to_none=True)
        true = model.ground(frames, check=False).gather(1, symbols[:, None])
        loss = -true.clamp_min(1e-9).log().mean()
        if float(loss.detach()) < 0.01:
            break
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    model.grounder.eval()
    with torch.no_grad():
        return float((model.ground(frames).argmax(-1) == symbols).double().mean())
