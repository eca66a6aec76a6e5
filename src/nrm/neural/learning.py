"""Learning whatever is unknown from rewards: one entry point (paper, "Reasoning and Learning with NRM")."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from nrm.errors import AlphabetError, ContradictionError, EpisodeError, LearningError
from nrm.machines import LevelCodec
from nrm.neural.buffer import EpisodeBuffer
from nrm.neural.config import Attempt, FitConfig, FitRecord, Learnable, target_for, what_to_learn
from nrm.neural.descent import Labelled, LearningProblem, attempt, scatter
from nrm.neural.em.distillation import redraw
from nrm.neural.em.network import network_attempt
from nrm.neural.em.table import table_attempts, table_suits
from nrm.neural.em.windows import window_attempts
from nrm.neural.emission import check_finite
from nrm.neural.episode_file import RecordedEpisodes, as_buffer
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.model import NeuralRewardMachine
from nrm.neural.moore import ProbabilisticMoore
from nrm.neural.recursion import moved

Episodes: TypeAlias = EpisodeBuffer | RecordedEpisodes
Progress = Callable[[Attempt], None]


def fit(
    models: NeuralRewardMachine | Sequence[NeuralRewardMachine],
    episodes: Episodes | Sequence[Episodes],
    learn: str | tuple[str, ...] = "grounding",
    config: FitConfig | None = None,
    *,
    labelled: tuple[Tensor, Tensor] | None = None,
    labelled_weight: float = 1.0,
    progress: Progress | None = None,
) -> FitRecord:
    """Learn the unknown parts of a neural reward machine from episodes; the model is changed in place.

    `learn`: `grounding`, `machine` (its transitions and rewards), `transitions`, `rewards`, or `both`/`all`.
    Several models that share one grounder, with episodes each, are learned together. Recorded episodes are as good as a
    buffer. `labelled`: observations (n, …) and their true letters (n,), whose cross-entropy counts `labelled_weight`
    times; not for recurrent grounders, to which one observation says little. Restarts differ in their fresh parameters;
    the one with the best likelihood on held-out episodes wins. Equal seeds give equal results.
    """
    settings = config or FitConfig()
    parts = what_to_learn(learn)
    nets = list(models) if isinstance(models, Sequence) else [models]
    given = list(episodes) if isinstance(episodes, Sequence) else [episodes]
    for net in nets:
        if not isinstance(net, NeuralRewardMachine):
            raise LearningError(f"what learns is a NeuralRewardMachine(grounder, machine), not a {type(net).__name__}")
    if len(nets) != len(given) or not nets:
        raise LearningError(f"{len(nets)} models but {len(given)} sets of episodes; give one per model")
    buffers = [as_buffer(each, net.machine) for net, each in zip(nets, given, strict=True)]
    _check_request(nets, buffers, parts)
    generator = torch.Generator().manual_seed(settings.seed)
    distinct = _grounds_alike(nets[0].grounder)
    problems = [_problem(*pair, settings, generator, distinct) for pair in zip(nets, buffers, strict=True)]
    for number, problem in enumerate(problems):
        _check_consistent(problem, f"task {number}, " if len(problems) > 1 else "")
        _check_grounder(problem)
    few = None if labelled is None else _labelled(nets[0], *labelled, labelled_weight)
    target = target_for(settings, parts)

    attempts: list[Attempt] = []
    best: _Kept | None = None
    # Fresh parameters and dropout draw from torch's global generator; its state is the caller's, and put back.
    with torch.random.fork_rng(devices=[]):
        for done in _attempts(problems, parts, settings, few):
            attempts.append(done)
            if progress:
                progress(done)
            if best is None or done.held_out < best.attempt.held_out:
                temperatures = [net.machine.temperature for net in nets]
                best = _Kept(done, [copy.deepcopy(net.state_dict()) for net in nets], temperatures)
            if _explains(done, target):
                break
    assert best is not None
    for net, weights, temperature in zip(nets, best.weights, best.temperatures, strict=True):
        net.load_state_dict(weights)
        net.machine.temperature = temperature
        net.eval()
    return FitRecord(
        learned=parts,
        objective=settings.objective,
        attempts=tuple(attempts),
        best=best.attempt,
        explained=_explains(best.attempt, target),
        episodes=sum(len(buffer) for buffer in buffers),
        distinct_observations=sum(buffer.distinct for buffer in buffers),
    )


def _attempts(
    problems: Sequence[LearningProblem], parts: tuple[Learnable, ...], settings: FitConfig, labelled: Labelled | None
) -> Iterator[Attempt]:
    """One attempt after another; networks as they were given are the first: a user may have prepared them."""
    target = target_for(settings, parts)
    by_em = settings.objective == "em" and parts == ("grounding",)
    torch.manual_seed(settings.seed)
    before = 0
    if by_em and table_suits(problems):
        yield from table_attempts(problems, settings, labelled, target)
        return
    if by_em and problems[0].model.recurrent:
        for taught in window_attempts(problems, settings, target, torch.Generator().manual_seed(settings.seed)):
            yield taught
            before = taught.restarts
    descending = replace(settings, objective="sequence") if settings.objective == "em" else settings
    restarts = settings.network_restarts(problems[0].model.recurrent) if by_em else settings.restarts
    for number in range(restarts):
        seed = settings.seed + 7919 * number
        torch.manual_seed(seed)
        if number:
            _draw(problems, parts, seed, settings)
        generator = torch.Generator().manual_seed(seed)
        if by_em:
            yield network_attempt(problems, settings, before + number, labelled, target, generator)
        else:
            yield attempt(problems, parts, descending, number, generator, labelled)


class _Kept(NamedTuple):
    """The best attempt so far, with copies of its parameters."""

    attempt: Attempt
    weights: list[dict[str, Tensor]]
    temperatures: list[float]


def _explains(done: Attempt, target: float) -> bool:
    return max(done.train, done.held_out) <= target


def _problem(
    model: NeuralRewardMachine, buffer: EpisodeBuffer, settings: FitConfig, generator: torch.Generator, distinct: bool
) -> LearningProblem:
    learned_from, held_out = buffer.split(settings.held_out, generator)
    device = model.machine.levels.device
    everything = buffer.batch(distinct=distinct).to(device)
    held = buffer.batch(held_out, distinct).to(device) if held_out else everything

    def batches(pass_generator: torch.Generator) -> list[EpisodeBatch]:
        size = settings.batch_size
        assert size is not None
        order = [learned_from[i] for i in torch.randperm(len(learned_from), generator=pass_generator).tolist()]
        return [buffer.batch(order[i : i + size], distinct).to(device) for i in range(0, len(order), size)]

    full = buffer.batch(learned_from, distinct).to(device)
    mini = settings.batch_size is not None and settings.batch_size < len(learned_from)
    return LearningProblem(model, full, held, everything, batches if mini else None)


def _check_consistent(problem: LearningProblem, place: str) -> None:
    """Raise `ContradictionError` at the first step whose potential no letters at all can explain."""
    found = contradiction(problem.model.machine, problem.everything)
    if found is not None:
        where = f"{place}episode {found.episode}, step {found.step} (counting from 0)"
        raise ContradictionError(f"{where}: {found.reason}", found.episode, found.step)


def _check_grounder(problem: LearningProblem) -> None:
    """Raise unless the grounder gives probabilities: a loss of anything else would mean nothing."""
    training = problem.model.grounder.training
    problem.model.grounder.eval()
    with torch.no_grad():
        lengths = problem.everything.lengths
        first = torch.arange(min(4, len(lengths)), device=lengths.device)
        problem.model.ground_batch(problem.everything.pick(first))
    problem.model.grounder.train(training)


def _check_request(
    nets: Sequence[NeuralRewardMachine], buffers: Sequence[EpisodeBuffer], parts: tuple[Learnable, ...]
) -> None:
    for net, buffer in zip(nets, buffers, strict=True):
        if not len(buffer):
            raise EpisodeError("the buffer is empty; add episodes first")
        levels = net.machine.levels.tolist()
        if levels != buffer.levels.tolist():
            raise EpisodeError(
                f"the episodes are labelled with the potentials {buffer.codec}, but the machine outputs "
                f"{LevelCodec(levels)}; build the buffer for this machine"
            )
        if net.grounder is not nets[0].grounder:
            raise LearningError("several models are learned together only when they share one grounder module")
        if net.machine.alphabet != nets[0].machine.alphabet:
            raise AlphabetError("models that share a grounder must share their alphabet")
        known = [part for part in parts if part != "grounding" and part not in net.machine.learned]
        if known:
            raise LearningError(
                f"the {' and '.join(known)} of this machine are known and cannot be learned; build it with "
                f"ProbabilisticMoore.unknown(…), or from_machine(…, unknown={tuple(known)!r}) or trainable=…"
            )
    if parts == ("grounding",) and not any(True for _ in nets[0].grounder.parameters()):
        raise LearningError("this grounder has no parameters to learn; is it the true labelling?")


def _draw(problems: Sequence[LearningProblem], parts: tuple[Learnable, ...], seed: int, settings: FitConfig) -> None:
    """Fresh parameters for what is learned."""
    generator = torch.Generator().manual_seed(seed)
    if "grounding" in parts:
        redraw(problems[0].model.grounder)
        scatter(problems[0].model, problems[0].train, settings, generator)
    machine = [part for part in parts if part != "grounding"]
    for problem in problems if machine else ():
        problem.model.machine.reset(machine, generator)


def _labelled(net: NeuralRewardMachine, observations: Tensor, letters: Tensor, weight: float) -> Labelled:
    size = net.machine.alphabet.size
    if net.recurrent:
        raise LearningError(
            f"labels are of single observations, and {type(net.grounder).__name__} names symbols by what an episode "
            "has shown so far; leave labelled=… out, or take a grounder that is not recurrent"
        )
    if len(observations) != len(letters) or not len(letters):
        raise EpisodeError(f"{len(observations)} labelled observations but {len(letters)} letters; give one each")
    if bool(((letters < 0) | (letters >= size)).any()):
        raise AlphabetError(f"labelled letters lie from 0 to {size - 1}; got {sorted(set(letters.tolist()))}")
    check_finite(observations, "labelled observation")
    device = net.machine.levels.device
    return Labelled(observations.to(device), letters.to(device).long(), weight)


def _grounds_alike(grounder: nn.Module) -> bool:
    """Whether an observation is grounded alike however often it occurs: not so with batch statistics."""
    return not any(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in grounder.modules())


class Contradiction(NamedTuple):
    """The first step that no letters at all can explain."""

    episode: int
    """Its place in the batch."""
    step: int
    """Counting from 0."""
    reason: str


def contradiction(machine: ProbabilisticMoore, batch: EpisodeBatch) -> Contradiction | None:
    """Where a batch first shows a potential that cannot follow those before it; None where all of it is possible."""
    if machine.learned:
        return None
    targets, shows = machine.targets(batch), machine.possible_levels(batch)
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
            seen = float(machine.levels[batch.levels[episode, step]])
            reachable = machine.levels[(ahead[episode] @ shows[episode] > 0)]
            return Contradiction(
                episode,
                step,
                f"potential {seen:g} cannot follow the potentials before it, whatever the symbols are; "
                f"{machine.name_of(batch, episode)} can output {LevelCodec(reachable)} there. The task contradicts the "
                "episodes; is it the task that they were recorded with?",
            )
        possible = after.where(real[:, None], possible)
    return None
