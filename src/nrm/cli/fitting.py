"""What `nrm fit` does once PyTorch is loaded."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from nrm.aliases import Json
from nrm.cli.options import UsageError
from nrm.errors import NrmError, listing
from nrm.groundability import Diagnosis, diagnose, shortcuts
from nrm.machines import Alphabet, MooreMachine
from nrm.neural import (
    GROUNDERS,
    EpisodeBuffer,
    FitConfig,
    FitRecord,
    Grounder,
    NeuralRewardMachine,
    ProbabilisticMoore,
    RecordedEpisodes,
    TrueLabels,
    compare,
    discover,
    extract,
    fit,
    grounder_for,
    renaming,
)
from nrm.neural.config import Attempt
from nrm.neural.extraction import grounded_traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from nrm.cli.fit import Fit


@dataclass(frozen=True)
class Outcome:
    """What was learned."""

    model: NeuralRewardMachine
    record: FitRecord
    episodes: EpisodeBuffer
    machine: MooreMachine | None = None
    """The learned machine, when one was learned."""
    verdict: str | None = None
    """How it relates to the task that was named."""
    diagnosis: Diagnosis | None = None
    """Of the grounding, when the file has true symbols and the task is known."""

    def summary(self) -> list[tuple[str, str]]:
        """Lines for the terminal."""
        best = self.record.best
        buffer = self.episodes
        lines = [
            ("episodes", f"{len(buffer)}, {buffer.steps:,} steps, {buffer.distinct:,} distinct observations"),
            ("learned", f"{', '.join(self.record.learned)} by {self.record.objective} likelihood"),
            (
                "restarts",
                f"{len(self.record.attempts)}, best {best.number}: {best.epochs} epochs, {best.stopped}; "
                f"{self.record.seconds:.1f} s in all",
            ),
            ("fit", f"nats a step {best.train:.4f} learned from, {best.held_out:.4f} held out"),
        ]
        if not self.record.explained:
            remedy = "restarts or epochs" if self.machine is None else "restarts, epochs or states"
            lines.append(("note", f"no restart explains all rewards; if the task is right, more {remedy} may"))
        if self.machine is not None:
            lines.append(("machine", f"{self.machine.states} states, {self.machine.classes} letter classes"))
        if self.verdict is not None:
            lines.append(("task", self.verdict))
        if self.diagnosis is not None:
            lines.append(("grounding", self.diagnosis.meaning))
            taken = ", ".join(f"{true} as {found}" for true, found in self.diagnosis.nearest.items() if true != found)
            lines.append(("taken", taken or "each symbol for itself"))
        return lines

    def as_dict(self) -> Json:
        """The record file."""
        result: Json = {"summary": dict(self.summary()), "explained": self.record.explained}
        result["attempts"] = [dataclasses.asdict(attempt) for attempt in self.record.attempts]
        if self.diagnosis is not None:
            result["diagnosis"] = {
                "accuracy": self.diagnosis.accuracy,
                "balanced_accuracy": self.diagnosis.balanced_accuracy,
                "accuracy_modulo_shortcuts": self.diagnosis.accuracy_modulo_shortcuts,
                "kind": self.diagnosis.kind,
                "nearest": self.diagnosis.nearest,
            }
        return result


def use_threads(count: int) -> None:
    """Let PyTorch use so many threads."""
    if count < 1:
        raise UsageError(f"--threads must be at least 1, not {count}")
    torch.set_num_threads(count)


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


def contradiction(recorded: RecordedEpisodes, machine: MooreMachine) -> str | None:
    """Where the file's true symbols do not give its rewards under the task, so that no training could help."""
    if recorded.symbols is None or int(recorded.symbols.max()) >= machine.alphabet.size:
        return None  # letters that the task does not have are an error of their own
    start = 0
    for episode, (length, rewards) in enumerate(zip(recorded.lengths, recorded.episode_rewards(), strict=True)):
        state = machine.initial
        for step in range(int(length)):
            after = machine.next_state(state, int(recorded.symbols[start + step]))
            if abs(float(machine.outputs[after] - machine.outputs[state]) - float(rewards[step])) > 0.1:
                return f"episode {episode}, step {step} (counting from 0)"
            state = after
        start += int(length)
    return None


def learn(
    options: Fit,
    recorded: RecordedEpisodes,
    machine: MooreMachine | None,
    progress: Callable[[Attempt], None] | None,
) -> Outcome:
    """Do what the options ask for."""
    config = FitConfig(
        objective=options.objective,
        epochs=options.epochs,
        restarts=options.restarts,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        seed=options.seed,
    )
    if options.states < 1:
        raise UsageError(f"--states must be at least 1, not {options.states}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        if options.learn == "grounding":
            assert machine is not None
            return _grounding(options, recorded, machine, config, progress)
        if options.learn == "machine":
            return _machine(options, recorded, machine, config, progress)
        return _both(options, recorded, machine, config, progress)


def _grounding(
    options: Fit,
    recorded: RecordedEpisodes,
    machine: MooreMachine,
    config: FitConfig,
    progress: Callable[[Attempt], None] | None,
) -> Outcome:
    episodes = recorded.buffer(machine)
    model = NeuralRewardMachine(_network(options.grounder, recorded, machine.alphabet.size), machine)
    record = fit(model, episodes, "grounding", config, progress=progress)
    place = contradiction(recorded, machine)
    if place is not None:
        verdict = f"not the one of the recording: the true symbols in the file give other rewards under it, at {place}"
        return Outcome(model, record, episodes, verdict=verdict)
    return Outcome(model, record, episodes, diagnosis=_diagnosis(model, episodes, machine))


def _machine(
    options: Fit,
    recorded: RecordedEpisodes,
    reference: MooreMachine | None,
    config: FitConfig,
    progress: Callable[[Attempt], None] | None,
) -> Outcome:
    if recorded.symbols is None:
        raise UsageError("to learn the machine alone, the file must have true 'symbols'; without them: --learn both")
    names = recorded.symbol_names or tuple(f"s{number}" for number in range(int(recorded.symbols.max()) + 1))
    alphabet = reference.alphabet if reference is not None else Alphabet.exclusive(names)
    letters = dataclasses.replace(recorded, observations=recorded.symbols, index=None)
    episodes = letters.buffer(reference)
    moore = ProbabilisticMoore.unknown(alphabet, options.states, episodes.levels, seed=options.seed)
    model = NeuralRewardMachine(TrueLabels(alphabet.size), moore)
    record = fit(model, episodes, "machine", config, progress=progress)
    found = extract(model, episodes)
    verdict = None if reference is None else f"the machine is {compare(found, reference)}"
    return Outcome(model, record, episodes, found, verdict)


def _both(
    options: Fit,
    recorded: RecordedEpisodes,
    reference: MooreMachine | None,
    config: FitConfig,
    progress: Callable[[Attempt], None] | None,
) -> Outcome:
    episodes = recorded.buffer(reference)
    made = discover(
        episodes,
        options.states,
        config,
        grounder=lambda count: _network(options.grounder, recorded, count),
        progress=progress,
    )
    verdict = None
    if reference is not None:
        matched = renaming(made.machine, reference)
        verdict = "equivalent up to the names of symbols" if matched else "not equivalent under any names of symbols"
    return Outcome(made.model, made.record, episodes, made.machine, verdict)


def _network(name: str, recorded: RecordedEpisodes, symbols: int) -> Grounder:
    if name == "auto":
        return grounder_for(recorded.shape, symbols)
    if name == "mlp":
        return GROUNDERS[name](int(np.prod(recorded.shape)), symbols)  # type: ignore[call-arg, arg-type]
    return GROUNDERS[name](symbols, recorded.shape)  # type: ignore[call-arg, arg-type]


def _diagnosis(model: NeuralRewardMachine, episodes: EpisodeBuffer, machine: MooreMachine) -> Diagnosis | None:
    """What the shortcuts of the task say about the grounding, when the true symbols are known."""
    true = episodes.symbols()
    if true is None:
        return None
    size = machine.alphabet.size
    if int(true.max()) >= size:
        raise NrmError(
            f"the file's true symbols go up to {int(true.max())}, but the task has {size} letters, 0 to {size - 1}"
        )
    confusion = np.zeros((size, size))
    np.add.at(confusion, (true, np.concatenate(grounded_traces(model, episodes))), 1.0)
    return diagnose(shortcuts(machine), confusion)
