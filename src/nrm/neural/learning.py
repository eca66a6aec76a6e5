"""Learning the grounder from rewards: one entry point (paper, "Reasoning and Learning with NRM")."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import nn

from nrm.errors import AlphabetError, ContradictionError, EpisodeError, LearningError
from nrm.machines import LevelCodec
from nrm.neural.buffer import EpisodeBuffer
from nrm.neural.config import Attempt, FitConfig, FitRecord
from nrm.neural.descent import Labelled, LearningProblem, attempt, regularised_attempt, scatter
from nrm.neural.em.network import network_attempt
from nrm.neural.em.steps import redraw
from nrm.neural.em.table import table_attempts, table_suits, window_attempts
from nrm.neural.emission import check_finite
from nrm.neural.episode_file import RecordedEpisodes, as_buffer
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine
from nrm.neural.moore import ProbabilisticMoore
from nrm.neural.recursion import moved

Episodes: TypeAlias = EpisodeBuffer | RecordedEpisodes
Progress = Callable[[Attempt], None]


def fit(
    model: NeuralRewardMachine,
    episodes: Episodes,
    learn: str = "grounding",
    config: FitConfig | None = None,
    *,
    labelled: tuple[Any, Iterable[Any]] | None = None,
    progress: Progress | None = None,
) -> FitRecord:
    """Learn the grounder of a neural reward machine from episodes; the model is changed in place.

    `learn`: the grounding; `nrm.discover` finds machines, too. `labelled`: observations (n, …) and their true symbols
    (n,), names or numbers, which add a supervised loss; not for recurrent grounders. The restart with the best
    likelihood on held-out episodes is kept. Equal seeds give equal results.
    """
    if not isinstance(model, NeuralRewardMachine):
        raise LearningError(f"what learns is a NeuralRewardMachine(grounder, machine), not a {type(model).__name__}")
    _check_learns(model, learn)
    buffer = as_buffer(episodes, model.machine)
    _check_buffer(model, buffer)
    problem = _problem(model, buffer, config or FitConfig())
    found = contradiction(model.machine, problem.everything)
    if found is not None:
        where = f"episode {found.episode}, step {found.step} (counting from 0)"
        raise ContradictionError(f"{where}: {found.reason}", found.episode, found.step)
    _check_grounder(problem)
    if labelled is not None:
        problem = replace(problem, labelled=_labelled(model, *labelled))
    attempts: list[Attempt] = []
    best, weights = None, model.state_dict()
    least, since = math.inf, 0
    # Fresh parameters and dropout draw from torch's global generator; its state is the caller's, and put back.
    with torch.random.fork_rng(devices=[]):
        for done in _attempts(problem):
            attempts.append(done)
            if progress:
                progress(done)
            if best is None or done.held_out < best.held_out:
                best, weights = done, copy.deepcopy(model.state_dict())
            since = 0 if done.held_out < 0.9 * least else since + 1
            least = min(least, done.held_out)
            # Of a few restarts that bring nothing, the next one will hardly bring more.
            if done.explains(problem.target) or since >= max(3, problem.config.restarts // 4):
                break
    assert best is not None
    model.load_state_dict(weights)
    model.eval()
    objective, target = problem.config.objective, problem.target
    return FitRecord(objective, tuple(attempts), best, target, len(buffer), buffer.distinct)


def _attempts(problem: LearningProblem) -> Iterator[Attempt]:
    """One attempt after another; networks as they were given are the first: a user may have prepared them."""
    config, model = problem.config, problem.model
    by_em, regularised = config.objective == "em", config.objective == "regularised"
    torch.manual_seed(config.seed)
    before = 0
    if by_em:
        for found in model.reading.pick(table_attempts, window_attempts)(problem):
            yield found
            before = found.number + found.restarts
    if model.reading.pick(before, 0):  # a table of observations says all that a grounder of these can learn
        return
    step = regularised_attempt if regularised else network_attempt if by_em else attempt
    restarts = config.network_restarts(model.reading.pick(1, 4)) if by_em or regularised else config.restarts
    for number in range(restarts):
        seed = config.seed + 7919 * number
        torch.manual_seed(seed)
        if number:
            _draw(problem, seed)
        yield step(problem, before + number, torch.Generator().manual_seed(seed))


def _problem(model: NeuralRewardMachine, buffer: EpisodeBuffer, config: FitConfig) -> LearningProblem:
    rows = buffer.split(config.held_out, torch.Generator().manual_seed(config.seed))
    # An observation is grounded alike however often it occurs; not so with batch statistics.
    normed = any(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in model.grounder.modules())
    device = model.machine.levels.device
    everything = buffer.batch(distinct=not normed).to(device)
    train, held_out = (everything.pick(torch.tensor(some, device=device)) if some else everything for some in rows)
    uncertain = everything.evidence is not None and not table_suits(everything)
    if uncertain and config.objective == "em":
        config = config.regularised
    return LearningProblem(model, train, held_out, everything, config)


def _check_grounder(problem: LearningProblem) -> None:
    """Raise unless the grounder gives probabilities: a loss of anything else would mean nothing."""
    training = problem.model.grounder.training
    problem.model.grounder.eval()
    with torch.no_grad():
        lengths = problem.everything.lengths
        first = torch.arange(min(4, len(lengths)), device=lengths.device)
        problem.model.ground_batch(problem.everything.pick(first))
    problem.model.grounder.train(training)


def _check_learns(model: NeuralRewardMachine, learn: str) -> None:
    if learn != "grounding":
        raise LearningError(f"fit learns the grounding, not '{learn}'; to find the machine as well, see nrm.discover")
    if not any(True for _ in model.grounder.parameters()):
        raise LearningError("this grounder has no parameters to learn; is it the true labelling?")


def _check_buffer(model: NeuralRewardMachine, buffer: EpisodeBuffer) -> None:
    if not len(buffer):
        raise EpisodeError("the buffer is empty; add episodes first")
    levels = model.machine.levels.tolist()
    if levels != buffer.levels.tolist():
        other = f"but the machine outputs {LevelCodec(levels)}"
        raise EpisodeError(f"the episodes are labelled with the potentials {buffer.codec}, {other}")


def _draw(problem: LearningProblem, seed: int) -> None:
    """Fresh parameters."""
    generator = torch.Generator().manual_seed(seed)
    redraw(problem.model.grounder)
    if problem.config.objective != "regularised":
        scatter(problem, generator)


def _labelled(model: NeuralRewardMachine, shown: Any, symbols: Iterable[Any]) -> Labelled:
    size = model.machine.alphabet.size
    named = [model.machine.alphabet.letter(one) if isinstance(one, str) else int(one) for one in symbols]
    observations, letters = torch.as_tensor(shown), torch.tensor(named)
    model.reading.check_alone()
    if len(observations) != len(letters) or not len(letters):
        raise EpisodeError(f"{len(observations)} labelled observations but {len(letters)} letters; give one each")
    if bool(((letters < 0) | (letters >= size)).any()):
        raise AlphabetError(f"labelled letters lie from 0 to {size - 1}; got {sorted(set(letters.tolist()))}")
    check_finite(observations, "labelled observation")
    device = model.machine.levels.device
    return Labelled(observations.to(device), letters.to(device).long())


class Contradiction(NamedTuple):
    """The first step that no letters at all can explain."""

    episode: int
    """Its place in the batch."""
    step: int
    """Counting from 0."""
    reason: str


def contradiction(machine: ProbabilisticMoore, batch: EpisodeBatch) -> Contradiction | None:
    """Where a batch first shows a potential that cannot follow those before it; None where all of it is possible."""
    targets, outputs = machine.targets(batch), machine.possible_levels(batch)
    shows = (batch.weighed(outputs) > 0).float()
    possible = (machine.starts(batch) > 0).float()
    any_letter = torch.ones(len(possible), targets.shape[2], device=possible.device)
    for step in range(batch.seen.shape[1]):
        ahead = (moved(possible, any_letter, targets) > 0).float()
        shown = shows.gather(2, batch.levels[:, step, None, None].expand(-1, shows.shape[1], 1))
        after = ahead * shown.squeeze(2)
        real = batch.lengths > step
        wrong = real & ~(after > 0).any(1)
        if bool(wrong.any()):
            episode = int(wrong.nonzero()[0])
            seen = LevelCodec(machine.levels[batch.allowed(episode, step)])
            reachable = machine.levels[(ahead[episode] @ outputs[episode] > 0)]
            return Contradiction(
                episode,
                step,
                f"potential {seen} cannot follow what is known of those before it, whatever the symbols are; "
                f"{machine.name_of(batch, episode)} can output {LevelCodec(reachable)} there. The task contradicts the "
                "episodes; is it the task that they were recorded with?",
            )
        possible = after.where(real[:, None], possible)
    return None
