"""From learned parameters to a crisp machine, and its comparison with a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nrm.errors import LearningError, MachineError
from nrm.inference import merge_states
from nrm.machines import Difference, MooreMachine, difference, minimise
from nrm.neural.buffer import EpisodeBuffer
from nrm.neural.episode_file import RecordedEpisodes, as_buffer
from nrm.neural.model import NeuralRewardMachine
from nrm.neural.moore import ProbabilisticMoore


@dataclass(frozen=True)
class Comparison:
    """How a machine relates to a reference."""

    equivalent: bool
    difference: Difference | None
    """A shortest trace that tells them apart; the extracted machine comes first."""

    def __str__(self) -> str:
        return "equivalent" if self.equivalent else f"not equivalent: {self.difference}"


def extract(
    model: ProbabilisticMoore | NeuralRewardMachine,
    episodes: EpisodeBuffer | RecordedEpisodes | None = None,
    *,
    minimal: bool = True,
    accepting_level: float | None = None,
) -> MooreMachine:
    """The machine of the most probable transitions and potentials; minimised by its outputs.

    With `episodes` (and then a whole model, whose grounder reads them), transitions that none of them ever took are
    not trusted: states that the episodes do not tell apart are merged. Rewards do not show acceptance: states of
    `accepting_level` (by default the highest potential) count as accepting.
    """
    machine = model.machine if isinstance(model, NeuralRewardMachine) else model
    with torch.no_grad():
        columns = machine.transition_probs().argmax(-1).cpu().numpy().T
        level = machine.reward_probs().argmax(-1).cpu().numpy()
    levels = machine.levels.cpu().numpy()
    outputs = levels[level]
    best = float(levels.max()) if accepting_level is None else accepting_level
    crisp = MooreMachine(
        machine.alphabet,
        machine.letters,
        columns.astype(np.int32),
        outputs == best,
        outputs,
        machine.initial,
    )
    if episodes is not None:
        if not isinstance(model, NeuralRewardMachine):
            raise LearningError("to extract with episodes, give the whole model: its grounder reads them")
        buffer = as_buffer(episodes, machine)
        crisp = merge_states(crisp, grounded_traces(model, buffer), buffer.codec.initial)
    return minimise(crisp, by="outputs") if minimal else crisp


def grounded_traces(model: NeuralRewardMachine, episodes: EpisodeBuffer) -> list[NDArray[np.int64]]:
    """The most probable letter of each step of each episode."""
    batch = episodes.batch().to(model.machine.levels.device)
    with torch.no_grad():
        letters = model.letters(model.ground_batch(batch))
    rows = letters[model.rows(batch)].cpu().numpy()
    return [row[:length] for row, length in zip(rows, batch.lengths.tolist(), strict=True)]


def sharpness(machine: ProbabilisticMoore) -> float:
    """The least certain choice that `extract` makes: 1 for a crisp machine."""
    with torch.no_grad():
        choices = [machine.transition_probs().amax(-1).min(), machine.reward_probs().amax(-1).min()]
    return float(min(choices))


def compare(machine: MooreMachine, reference: MooreMachine, acceptance: bool = False) -> Comparison:
    """Whether two machines give the same potentials (and acceptance) on every trace; else a shortest one where not."""
    witness = difference(machine, reference, acceptance)
    return Comparison(witness is None, witness)


def renaming(machine: MooreMachine, reference: MooreMachine) -> tuple[int, ...] | None:
    """For each letter of the reference a letter of the machine, so that they behave alike; None if no map does that.

    A machine learned together with its grounder has symbols without names: it is right when some renaming makes it
    equivalent to the reference. Several letters may share a meaning, but each letter of the machine must have one:
    its letter classes and the reference's are matched one to one.
    """
    left, right = minimise(machine, by="outputs"), minimise(reference, by="outputs")
    if left.classes != right.classes or left.outputs[left.initial] != right.outputs[right.initial]:
        return None
    chosen = _search(left, right, [])
    if chosen is None:
        return None
    first = {number: int(np.flatnonzero(left.letter_class == number)[0]) for number in set(chosen)}
    return tuple(first[chosen[number]] for number in right.letter_class.tolist())


def renamed_letters(machine: MooreMachine, letters: Sequence[int], reference: MooreMachine) -> MooreMachine:
    """The machine over the reference's alphabet, in which letter p acts as `letters[p]` did."""
    if len(letters) != reference.alphabet.size:
        raise MachineError(f"{len(letters)} letters for the {reference.alphabet.size} of the reference alphabet")
    return machine.relettered(reference.alphabet, letters)


def _search(left: MooreMachine, right: MooreMachine, chosen: list[int]) -> list[int] | None:
    """Extend the classes of `left` chosen for the first classes of `right`, as long as no trace over them differs."""
    if not _agree(left, right, chosen):
        return None
    if len(chosen) == right.classes:
        return chosen
    for candidate in set(range(left.classes)) - set(chosen):
        found = _search(left, right, [*chosen, candidate])
        if found is not None:
            return found
    return None


def _agree(left: MooreMachine, right: MooreMachine, chosen: Sequence[int]) -> bool:
    start = (left.initial, right.initial)
    seen = {start}
    waiting = [start]
    while waiting:
        a, b = waiting.pop()
        for place, number in enumerate(chosen):
            following = (int(left.columns[a, number]), int(right.columns[b, place]))
            if left.outputs[following[0]] != right.outputs[following[1]]:
                return False
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return True
