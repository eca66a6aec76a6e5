"""What `nrm fit` does once PyTorch is loaded."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.cli.arguments import UsageError
from nrm.errors import NrmError, counted, listing
from nrm.inference import Episode
from nrm.machines import Alphabet, MooreMachine, until_over
from nrm.neural import (
    GROUNDERS,
    Discovery,
    EpisodeBuffer,
    FitRecord,
    Inferred,
    NeuralRewardMachine,
    Progress,
    RecordedEpisodes,
    TrueLabels,
    compare,
    discover,
    fit,
    grounded_traces,
    infer,
    over_alphabet,
    renaming,
)
from nrm.shortcuts import Diagnosis, diagnose, shortcuts
from nrm.tracking import left_to_learn, observation_name

if TYPE_CHECKING:
    from nrm.cli.fit import Fit

MAX_NAMED = 6
"""Observations of a symbol that are named one by one."""


@dataclass(frozen=True)
class FitOutcome:
    """What was learned."""

    model: NeuralRewardMachine
    record: FitRecord | None
    """Of descent; None where the machine was found without it."""
    episodes: EpisodeBuffer
    machine: MooreMachine | None = None
    """The learned machine, when one was learned."""
    verdict: str | None = None
    """How it relates to the task that was named."""
    diagnosis: Diagnosis | None = None
    """Of the grounding, when the file has true symbols and the task is known."""
    inferred: Inferred | None = None
    """The learned machine as state merging found it."""
    meaning: Mapping[int, list[str]] = field(default_factory=dict)
    """The names of the letters of each symbol of the learned machine."""
    symbols: str = ""
    """What the symbols that were discovered stand for, in words."""

    @property
    def explained(self) -> bool:
        """Whether what was learned explains the episodes."""
        if self.inferred is not None:
            return self.inferred.explained == 1
        return self.record is None or self.record.explained

    def summary(self) -> list[tuple[str, str]]:
        """Lines for the terminal."""
        buffer = self.episodes
        lines = [("episodes", f"{len(buffer)}, {buffer.steps:,} steps, {buffer.distinct:,} distinct observations")]
        if self.record is not None:
            lines += self._descended(self.record)
        if self.machine is not None:
            lines.append(
                (
                    "machine",
                    f"{counted(self.machine.states, 'state')}, {counted(self.machine.classes, 'letter class', 'es')}",
                )
            )
        if self.inferred is not None:
            lines += self._merged(self.inferred)
        if self.verdict is not None:
            lines.append(("task", self.verdict))
        if self.diagnosis is not None:
            lines.append(("grounding", self.diagnosis.meaning))
            taken = ", ".join(f"{true} as {found}" for true, found in self.diagnosis.nearest.items() if true != found)
            lines.append(("taken", taken or "each symbol for itself"))
        return lines

    def _descended(self, record: FitRecord) -> list[tuple[str, str]]:
        """What became of the restarts."""
        best = record.best
        verdict, reason = left_to_learn(record)
        lines = [
            ("learned", f"{', '.join(record.learned)} by {record.objective} likelihood"),
            (
                "restarts",
                f"{len(record.attempts)}, best {best.number}: {best.epochs} epochs, {best.stopped}; "
                f"{record.seconds:.1f} s in all",
            ),
            ("fit", f"nats a step {best.train:.4f} learned from, {best.held_out:.4f} held out"),
            ("left to learn", f"{verdict} ({reason})"),
        ]
        if not record.explained:
            lines.append(("note", "no restart explains all rewards; if the task is right, more restarts or epochs may"))
        return lines

    def _merged(self, inferred: Inferred) -> list[tuple[str, str]]:
        """What was found by states and letters, without descent."""
        held = "" if inferred.held_out is None else f"; {inferred.held_out:.1%} of held-out episodes predicted exactly"
        said = "all episodes" if inferred.explained == 1 else f"{inferred.explained:.1%} of the episodes"
        lines = [
            ("learned", f"in {inferred.seconds:.2f} s; {said} explained{held}"),
            ("certainty", str(inferred.certainty)),
        ]
        if self.symbols:
            lines.append(("symbols", self.symbols))
        guess = inferred.guess()
        if guess is not None:
            meant = {symbol: self.meaning.get(symbol, [f"s{symbol}"]) for symbol in guess.symbols.values()}
            lines.append(("guess", guess.describe(meant)))
        return lines

    def as_dict(self) -> Json:
        """The record file."""
        result: Json = {"summary": dict(self.summary()), "explained": self.explained}
        result["attempts"] = [] if self.record is None else list(map(dataclasses.asdict, self.record.attempts))
        if self.diagnosis is not None:
            result["diagnosis"] = {
                "accuracy": self.diagnosis.accuracy,
                "balanced_accuracy": self.diagnosis.balanced_accuracy,
                "accuracy_modulo_shortcuts": self.diagnosis.accuracy_modulo_shortcuts,
                "kind": self.diagnosis.kind,
                "nearest": self.diagnosis.nearest,
            }
        return result


def named_as(recorded: RecordedEpisodes, alphabet: Alphabet) -> RecordedEpisodes:
    """The episodes with their true symbols numbered as the task numbers them; the file may list them otherwise."""
    names = recorded.symbol_names
    if names is None or not alphabet.is_exclusive or names == alphabet.symbols:
        return recorded
    missing = [name for name in names if name not in alphabet.places]
    if missing:
        raise UsageError(
            f"the file names the symbols {listing(names)}, but the task knows no '{missing[0]}' "
            f"(its symbols: {listing(alphabet.symbols)}); name them alike, in the file or in the task"
        )
    numbers = np.array([alphabet.places[name] for name in names])
    symbols = None if recorded.symbols is None else numbers[recorded.symbols]
    return dataclasses.replace(recorded, symbols=symbols, symbol_names=alphabet.symbols)


def learn(options: Fit, recorded: RecordedEpisodes, task: MooreMachine | None, progress: Progress | None) -> FitOutcome:
    """Do what the options ask for; `task` is the machine that they name."""
    if task is not None:
        recorded = named_as(recorded, task.alphabet)
    learners = {"grounding": _grounding, "machine": _machine, "both": _both}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.settings.seed)
        return learners[options.learn](options, recorded, task, progress)


def _grounding(
    options: Fit, recorded: RecordedEpisodes, task: MooreMachine | None, progress: Progress | None
) -> FitOutcome:
    assert task is not None
    episodes = recorded.buffer(task)
    model = NeuralRewardMachine.made(task, partial(GROUNDERS[options.grounder].from_shape, recorded.shape))
    record = fit(model, episodes, "grounding", options.settings, progress=progress)
    verdict, diagnosis = _judged(model, episodes, task)
    return FitOutcome(model, record, episodes, verdict=verdict, diagnosis=diagnosis)


def _machine(
    options: Fit,
    recorded: RecordedEpisodes,
    task: MooreMachine | None,
    progress: Progress | None,  # noqa: ARG001 - merging is done before there is any
) -> FitOutcome:
    if recorded.symbols is None:
        raise UsageError("to learn the machine alone, the file must have true 'symbols'; without them: --learn both")
    names = recorded.symbol_names or tuple(f"s{number}" for number in range(int(recorded.symbols.max()) + 1))
    alphabet = Alphabet.exclusive(names) if task is None else task.alphabet
    episodes = recorded.buffer(task)
    inferred, used = infer(
        episodes,
        options.states,
        options.settings,
        reward_noise=options.reward_noise,
        label_noise=options.label_noise,
        letters=_true_letters,
    )
    found = over_alphabet(inferred, used, alphabet)
    model = NeuralRewardMachine(TrueLabels(alphabet.size), found)
    verdict = None if task is None else f"the machine is {compare(found, until_over(task))}"
    if task is not None and (place := _contradiction(episodes, task)) is not None:
        verdict = f"{verdict}; symbols and rewards of the file contradict it first at {place}"
    meaning = _meaning(inferred, [alphabet.letter_name(int(letter)) for letter in used])
    return FitOutcome(model, None, episodes, found, verdict, inferred=inferred, meaning=meaning)


def _both(
    options: Fit,
    recorded: RecordedEpisodes,
    task: MooreMachine | None,
    progress: Progress | None,  # noqa: ARG001 - merging is done before there is any
) -> FitOutcome:
    episodes = recorded.buffer(task)
    entry = GROUNDERS[options.grounder]
    make = None if options.grounder == "auto" else lambda count: entry.from_shape(recorded.shape, count)
    made = discover(
        episodes,
        options.states,
        options.settings,
        reward_noise=options.reward_noise,
        label_noise=options.label_noise,
        grounder=make,
    )
    verdict = None
    if task is not None:
        matched = renaming(made.machine, until_over(task))
        verdict = "equivalent up to the names of symbols" if matched else "not equivalent under any names of symbols"
    if made.inferred.hypothesis.letters == len(made.observations):
        names = [observation_name(row, place) for place, row in enumerate(made.observations)]
    else:  # observations without end: a grounder reads symbols
        names = list(made.machine.alphabet.symbols)
    meaning = _meaning(made.inferred, names)
    symbols = _symbols_in_words(made, episodes, recorded.symbol_names)
    return FitOutcome(
        made.model, None, episodes, made.machine, verdict, inferred=made.inferred, meaning=meaning, symbols=symbols
    )


def _symbols_in_words(made: Discovery, episodes: EpisodeBuffer, names: Sequence[str] | None) -> str:
    """What each discovered symbol stands for: its observations, and the true symbols where the file tells them."""
    true = episodes.symbols()
    read = made.symbols[np.concatenate([episode.seen for episode in episodes])]
    result = []
    for number, symbol in enumerate(made.machine.alphabet.symbols):
        mine = np.flatnonzero(made.symbols == number)
        told = [observation_name(made.observations[row], int(row)) for row in mine[:MAX_NAMED]]
        text = ", ".join(told) if len(mine) <= MAX_NAMED else f"{len(mine):,} observations"
        if true is not None:
            met, times = np.unique(true[read == number], return_counts=True)
            shares = [
                f"{names[letter] if names else letter} {count / times.sum():.0%}"
                for letter, count in sorted(zip(met.tolist(), times.tolist(), strict=True), key=lambda pair: -pair[1])
            ]
            text += f" (truly {', '.join(shares)})"
        result.append(f"{symbol} = {text}")
    return "; ".join(result)


def _true_letters(episode: Episode) -> NDArray[np.int64]:
    assert episode.symbols is not None
    return episode.symbols


def _meaning(inferred: Inferred, names: Sequence[str]) -> dict[int, list[str]]:
    """The names of the letters of each symbol."""
    meant: dict[int, list[str]] = {}
    for name, symbol in zip(names, inferred.hypothesis.symbols.tolist(), strict=True):
        meant.setdefault(symbol, []).append(name)
    return meant


def _judged(
    model: NeuralRewardMachine, episodes: EpisodeBuffer, task: MooreMachine
) -> tuple[str | None, Diagnosis | None]:
    """Where the true symbols are known: that they contradict the task, or what its shortcuts say of the grounding."""
    true = episodes.symbols()
    if true is None:
        return None, None
    size = task.alphabet.size
    if int(true.max()) >= size:
        raise NrmError(
            f"the file's true symbols go up to {int(true.max())}, but the task has {size} letters, 0 to {size - 1}"
        )
    place = _contradiction(episodes, task)
    if place is not None:
        return (
            f"not the one of the recording: the true symbols in the file give other rewards under it, at {place}",
            None,
        )
    confusion = np.zeros((size, size))
    np.add.at(confusion, (true, np.concatenate(grounded_traces(model, episodes))), 1.0)
    return None, diagnose(shortcuts(task), confusion)


def _contradiction(episodes: EpisodeBuffer, task: MooreMachine) -> str | None:
    """Where the true symbols do not lead to the potentials under the task, so that no training could help."""
    for number, episode in enumerate(episodes):
        assert episode.symbols is not None
        state = task.initial
        for step, (letter, level) in enumerate(zip(episode.symbols, episode.levels, strict=True)):
            state = task.next_state(state, int(letter))
            if task.level_of_state[state] != level:
                return f"episode {number}, step {step} (counting from 0)"
    return None
