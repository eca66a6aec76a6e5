"""From learned parameters to a machine, and its comparison with a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nrm.errors import LearningError, MachineError
from nrm.inference import Moves, matching, merge_states
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
) -> MooreMachine:
    """The machine of the most probable transitions and potentials, minimised by its outputs.

    With `episodes` and a whole model, transitions that no episode took are not trusted: states that the episodes do not
    separate are merged. Rewards do not show acceptance: states with the highest potential accept.
    """
    machine = model.machine if isinstance(model, NeuralRewardMachine) else model
    with torch.no_grad():
        columns = machine.transition_probs().argmax(-1).cpu().numpy().T
        level = machine.reward_probs().argmax(-1).cpu().numpy()
    levels = machine.levels.cpu().numpy()
    outputs = levels[level]
    table = columns.astype(np.int32)
    found = MooreMachine(
        machine.alphabet, machine.letters, table, outputs == float(levels.max()), outputs, machine.initial
    )
    if episodes is not None:
        if not isinstance(model, NeuralRewardMachine):
            raise LearningError("to extract with episodes, give the whole model: its grounder reads them")
        buffer = as_buffer(episodes, machine)
        found = merge_states(found, grounded_traces(model, buffer), buffer.codec.initial)
    return minimise(found, by="outputs")


def grounded_traces(model: NeuralRewardMachine, episodes: EpisodeBuffer) -> list[NDArray[np.int64]]:
    """The most probable letter of each step of each episode."""
    batch = episodes.batch().to(model.machine.levels.device)
    with torch.no_grad():
        letters = model.letters(model.ground_batch(batch))
    rows = letters[model.rows(batch)].cpu().numpy()
    return [row[:length] for row, length in zip(rows, batch.lengths.tolist(), strict=True)]


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
    theirs, mine = (Moves(one.columns, one.outputs, one.initial) for one in (right, left))
    chosen = matching(theirs, mine) if left.classes == right.classes else None
    if chosen is None:
        return None
    first = {number: int(np.flatnonzero(left.letter_class == number)[0]) for number in chosen}
    return tuple(first[chosen[number]] for number in right.letter_class.tolist())


def renamed_letters(machine: MooreMachine, letters: Sequence[int], reference: MooreMachine) -> MooreMachine:
    """The machine over the reference's alphabet, in which letter p acts as `letters[p]` did."""
    if len(letters) != reference.alphabet.size:
        raise MachineError(f"{len(letters)} letters for the {reference.alphabet.size} of the reference alphabet")
    return machine.relettered(reference.alphabet, letters)
