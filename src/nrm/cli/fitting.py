"""What `nrm fit` does once PyTorch is loaded."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.cli.arguments import UsageError
from nrm.detectors import FEW, EventDetector
from nrm.errors import ContradictionError, NrmError, counted, listing
from nrm.inference import Episode
from nrm.machines import Alphabet, MooreMachine, difference, until_over
from nrm.neural import (
    GROUNDERS,
    Discovery,
    EpisodeBuffer,
    FitConfig,
    FitRecord,
    Inferred,
    NeuralRewardMachine,
    Progress,
    RecordedEpisodes,
    TrueLabels,
    discover,
    disputed,
    fit,
    grounded_traces,
    infer,
    over_alphabet,
    renaming,
)
from nrm.shortcuts import Diagnosis, diagnose, shortcuts
from nrm.tracking import observation_name

if TYPE_CHECKING:
    from nrm.cli.fit import Fit
    from nrm.cli.options import Source


Lines = dict[str, str]
"""What is printed, and kept in record.json, by heading."""


@dataclass(frozen=True)
class FitOutcome:
    """What was learned."""

    model: NeuralRewardMachine
    explained: bool
    """Whether it explains the episodes."""
    lines: Lines
    machine: MooreMachine
    """The task's, or the one that was learned."""
    more: Json = field(default_factory=dict)
    """What record.json has besides."""

    def as_dict(self) -> Json:
        """The record file."""
        return {"summary": self.lines, "explained": self.explained, "attempts": [], **self.more}


def named_as(recorded: RecordedEpisodes, alphabet: Alphabet) -> RecordedEpisodes:
    """The episodes with their true symbols numbered as the task numbers them; the file may list them otherwise."""
    names = recorded.symbol_names
    if names is None or names == alphabet.symbols:
        return recorded
    try:
        numbers = np.array([alphabet.letter(alphabet.read_step(name), "symbol_names") for name in names])
    except NrmError as error:
        raise UsageError(f"the file names symbols that the task does not know: {error}") from None
    if recorded.symbols is not None and recorded.symbols.max() >= len(names):
        raise UsageError(f"the file has symbol {recorded.symbols.max()}, and names only {len(names)}")
    symbols = None if recorded.symbols is None else numbers[recorded.symbols]
    return dataclasses.replace(recorded, symbols=symbols, symbol_names=alphabet.symbols)


def learn(options: Fit, recorded: RecordedEpisodes, source: Source | None, progress: Progress | None) -> FitOutcome:
    """Do what the options ask for; `source` is the task that they name."""
    task = None if source is None else source.machine
    if task is not None:
        recorded = named_as(recorded, task.alphabet)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        if options.learn == "grounding":
            assert task is not None
            assert source is not None
            # Event detectors name one symbol a step.
            if recorded.verdicts is not None and task.alphabet.size == len(task.alphabet.symbols):
                return _detected(options, recorded, source, progress)
            return _grounding(options, recorded, task, progress)
        return _machine(options, recorded, task) if options.learn == "machine" else _both(options, recorded, task)


def _grounding(options: Fit, recorded: RecordedEpisodes, task: MooreMachine, progress: Progress | None) -> FitOutcome:
    episodes = recorded.buffer(task)
    model = NeuralRewardMachine.made(task, partial(GROUNDERS[options.grounder].from_shape, recorded.shape))
    record = fit(model, episodes, "grounding", options.config, progress=progress)
    lines = _amount(episodes) | _descended(record, options.config)
    if not record.explained:
        lines["note"] = "; ".join([_unexplained(episodes), *_disputes(model, episodes)])
        lines["try"] = _to_try(record, options.config, model)
    return _diagnosed(model, episodes, task, record.explained, lines, record)


def _detected(options: Fit, recorded: RecordedEpisodes, source: Source, progress: Progress | None) -> FitOutcome:
    """From a verdict on each episode, as event detectors learn."""
    how, task = options.config.regularised, source.machine
    detector = EventDetector(
        task if source.from_file else source.title,
        task.alphabet.symbols,
        grounder=options.grounder,
        restarts=how.restarts,
        epochs=how.epochs,
        learning_rate=how.learning_rate,
        held_out=how.held_out,
        seed=how.seed,
    )
    rows = recorded.observations if recorded.index is None else recorded.observations[recorded.index]
    try:
        detector.fit(np.split(rows, np.cumsum(recorded.lengths)[:-1]), recorded.verdicts, progress=progress)
    except ContradictionError as error:
        name = recorded.names[error.episode] if recorded.names else error.episode
        raise UsageError(f"{options.file}: recording '{name}': {error}") from None
    found = detector.coverage_
    lines = {"verdicts": listing(f"{passed} pass, {failed} fail" for _, passed, failed in found.recordings)}
    lines |= _descended(detector.record_, how)
    lines |= {
        "judged": f"{detector.held_out_score_:.1%} of held-out verdicts right; the more frequent one is in "
        f"{found.majority:.1%}",
        "symbols": "; ".join(map(str, (*found.shortcuts, *found.weak))) or "all are separated",
    }
    model = NeuralRewardMachine(detector.model_.grounder, task)
    return _diagnosed(model, recorded.buffer(task), task, detector.learned_, lines, detector.record_)


def _diagnosed(
    model: NeuralRewardMachine,
    episodes: EpisodeBuffer,
    task: MooreMachine,
    explained: bool,
    lines: Lines,
    record: FitRecord,
) -> FitOutcome:
    """What was learned, and what the true symbols say of it if the file has them."""
    more: Json = {"attempts": list(map(dataclasses.asdict, record.attempts))}
    wrong, diagnosis = _judged(model, episodes, task)
    if wrong is not None:
        lines["task"] = wrong
    if diagnosis is not None:
        taken = ", ".join(f"{true} as {found}" for true, found in diagnosis.nearest.items() if true != found)
        lines |= {"grounding": diagnosis.meaning, "predicted": taken or "every symbol correctly"}
        names = ("accuracy", "balanced_accuracy", "accuracy_modulo_shortcuts", "kind", "nearest")
        more["diagnosis"] = {name: getattr(diagnosis, name) for name in names}
    return FitOutcome(model, explained, lines, task, more)


def _machine(options: Fit, recorded: RecordedEpisodes, task: MooreMachine | None) -> FitOutcome:
    if recorded.symbols is None:
        raise UsageError("learning the machine alone needs true 'symbols' in the file; without them: --learn both")
    names = recorded.symbol_names or tuple(f"s{number}" for number in range(int(recorded.symbols.max()) + 1))
    alphabet = Alphabet.exclusive(names) if task is None else task.alphabet
    episodes = recorded.buffer(task)
    inferred, used = infer(episodes, options.max_states, options.config, letters=_true_letters, **_noise(options))
    found = over_alphabet(inferred, used, alphabet)
    lines = _amount(episodes) | _merged(inferred, found, [alphabet.letter_name(int(letter)) for letter in used])
    if task is not None:
        apart = difference(found, until_over(task), acceptance=False)
        lines["task"] = f"the machine is {'equivalent' if apart is None else f'not equivalent: {apart}'}"
        if (place := _contradiction(episodes, task)) is not None:
            lines["task"] += f"; the symbols and verdicts or rewards in the file contradict it, first at {place}"
    return FitOutcome(NeuralRewardMachine(TrueLabels(alphabet.size), found), inferred.explained == 1, lines, found)


def _both(options: Fit, recorded: RecordedEpisodes, task: MooreMachine | None) -> FitOutcome:
    episodes = recorded.buffer(task)
    entry = GROUNDERS[options.grounder]
    make = None if options.grounder == "auto" else lambda count: entry.from_shape(recorded.shape, count)
    made = discover(episodes, options.max_states, options.config, grounder=make, **_noise(options))
    names = list(made.machine.alphabet.symbols)  # of continuous observations: a grounder reads symbols
    if made.inferred.hypothesis.letters == len(made.observations):
        names = [observation_name(row, place) for place, row in enumerate(made.observations)]
    symbols = _symbols_in_words(made, episodes, recorded.symbol_names)
    lines = _amount(episodes) | _merged(made.inferred, made.machine, names, {"symbols": symbols})
    if task is not None:
        matched = renaming(made.machine, until_over(task))
        lines["task"] = f"{'equivalent up to the' if matched else 'not equivalent under any'} names of symbols"
    return FitOutcome(made.model, made.inferred.explained == 1, lines, made.machine)


def _amount(episodes: EpisodeBuffer) -> Lines:
    amount = f"{len(episodes)}, {episodes.steps:,} steps, {episodes.distinct:,} distinct observations"
    return {"episodes": amount, "potentials": _shown(episodes)}


def _shown(episodes: EpisodeBuffer) -> str:
    """How many episodes show each potential; what is rare is hard to learn, and what is never shown cannot be."""
    counts = _counts(episodes)
    amounts = [f"{level:g} in {count}" for level, count in zip(episodes.levels, counts, strict=True) if count]
    missing = listing(f"{level:g}" for level, count in zip(episodes.levels, counts, strict=True) if not count)
    return f"{listing(amounts)} of the episodes" + (f"; never {missing}" if missing else "")


def _counts(episodes: EpisodeBuffer) -> list[int]:
    """How many episodes show each potential."""
    return [sum(bool((episode.levels == code).any()) for episode in episodes) for code in range(len(episodes.levels))]


def _descended(record: FitRecord, asked: FitConfig) -> Lines:
    """What became of the restarts."""
    best, done = record.best, sum(attempt.restarts for attempt in record.attempts)
    return {
        "learned": f"grounding by {record.objective} likelihood",
        "restarts": f"{done} done, {asked.restarts} asked for, best restart {best.number}: "
        f"{best.epochs} epochs, {best.stopped}; {record.seconds:.1f} s in all",
        "fit": f"loss {best.train:.4f} nats per step, {best.held_out:.4f} held out; at most {record.target:.2g} counts "
        f"as explained: {'yes' if record.explained else 'no'}",
    }


def _disputes(model: NeuralRewardMachine, episodes: EpisodeBuffer) -> list[str]:
    """Which symbols the grounder confuses, as far as the rewards tell."""
    name = model.machine.alphabet.letter_name
    return [
        f"the rewards call {counted(steps, 'step')} {name(paid)} that the grounder calls {name(said)}"
        for said, paid, steps in disputed(model, episodes)[:3]
    ]


def _to_try(record: FitRecord, asked: FitConfig, model: NeuralRewardMachine) -> str:
    """Settings that may explain more."""
    other = "posterior" if asked.maximisation == "evidence" else "evidence"
    # Propositions are learned from posteriors whatever is set.
    alphabet = model.machine.alphabet
    by_network = record.best.epochs_each > 1 and alphabet.size == len(alphabet.symbols)
    limited = record.best.stopped == "epoch limit reached"
    ways = [f"--epochs {4 * asked.epochs}"] * limited + [f"--maximisation {other}"] * by_network
    return (
        f"{', '.join([*ways, 'more --restarts'])}, another --grounder, or more episodes. If nothing helps, check that "
        "one observation shows the symbol, and that it is the task of the log"
    )


def _unexplained(episodes: EpisodeBuffer) -> str:
    """Why no restart explains all rewards, as far as the episodes tell."""
    counts = _counts(episodes)
    few = [f"{level:g} ({count})" for level, count in zip(episodes.levels, counts, strict=True) if count < FEW]
    if few:
        return (
            f"few of {len(episodes)} episodes show the potentials {listing(few)}, too few to tell which symbols lead "
            "there; record more of these"
        )
    return "no restart explains all rewards"


def _merged(inferred: Inferred, found: MooreMachine, letters: Sequence[str], more: Lines | None = None) -> Lines:
    """What was found by states and letters, without descent. `letters`: their names."""
    held = "" if inferred.held_out is None else f"; {inferred.held_out:.1%} of held-out episodes predicted exactly"
    said = "all episodes" if inferred.explained == 1 else f"{inferred.explained:.1%} of the episodes"
    lines = {
        "machine": f"{counted(found.states, 'state')}, {counted(found.classes, 'symbol class', 'es')}",
        "learned": f"in {inferred.seconds:.2f} s; {said} explained{held}",
        "certainty": str(inferred.certainty),
        **(more or {}),
    }
    if (guess := inferred.guess()) is not None:
        meant: dict[int, list[str]] = {}
        for name, symbol in zip(letters, inferred.hypothesis.symbols.tolist(), strict=True):
            meant.setdefault(symbol, []).append(name)
        lines["guess"] = guess.describe(
            {symbol: meant.get(symbol, [f"s{symbol}"]) for symbol in guess.symbols.values()}
        )
    return lines


def _symbols_in_words(made: Discovery, episodes: EpisodeBuffer, names: Sequence[str] | None) -> str:
    """What each discovered symbol stands for: its observations, and the true symbols where the file tells them."""
    true = episodes.symbols()
    read = made.symbols[np.concatenate([episode.seen for episode in episodes])]
    result = []
    for number, symbol in enumerate(made.machine.alphabet.symbols):
        mine = np.flatnonzero(made.symbols == number)
        names_of_mine = [observation_name(made.observations[row], int(row)) for row in mine[:6]]
        text = ", ".join(names_of_mine) if len(mine) <= 6 else f"{len(mine):,} observations"
        if true is not None:
            met, times = np.unique(true[read == number], return_counts=True)
            shares = [
                f"{names[letter] if names else letter} {count / times.sum():.0%}"
                for letter, count in sorted(zip(met.tolist(), times.tolist(), strict=True), key=lambda pair: -pair[1])
            ]
            text += f" (truly {', '.join(shares)})"
        result.append(f"{symbol} = {text}")
    return "; ".join(result)


def _noise(options: Fit) -> Json:
    return {"reward_noise": options.reward_noise, "label_noise": options.label_noise}


def _true_letters(episode: Episode) -> NDArray[np.int64]:
    assert episode.symbols is not None
    return episode.symbols


def _judged(
    model: NeuralRewardMachine, episodes: EpisodeBuffer, task: MooreMachine
) -> tuple[str | None, Diagnosis | None]:
    """Where the true symbols are known: that they contradict the task, or what its shortcuts say of the grounding."""
    true = episodes.symbols()
    if true is None:
        return None, None
    size = task.alphabet.size
    if int(true.max()) >= size:
        raise NrmError(f"the file has the true symbol {int(true.max())}, and the task only 0 to {size - 1}")
    place = _contradiction(episodes, task)
    if place is not None:
        return (
            f"not the task of the log: its true symbols contradict its rewards or verdicts under it, first at {place}",
            None,
        )
    confusion = np.zeros((size, size))
    np.add.at(confusion, (true, np.concatenate(grounded_traces(model, episodes))), 1.0)
    return None, diagnose(shortcuts(task), confusion)


def _contradiction(episodes: EpisodeBuffer, task: MooreMachine) -> str | None:
    """Where the true symbols do not lead to the potentials under the task, so that no training could help."""
    weights = np.eye(len(episodes.levels)) if episodes.evidence is None else episodes.evidence
    for number, episode in enumerate(episodes):
        assert episode.symbols is not None
        state = task.initial
        for step, (letter, known) in enumerate(zip(episode.symbols, episode.levels, strict=True)):
            state = task.next_state(state, int(letter))
            if not weights[known, task.level_of_state[state]]:
                return f"episode {number}, step {step} (counting from 0)"
    return None
