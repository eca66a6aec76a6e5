"""Accuracy modulo shortcuts by trying every symmetry: slow and obvious, for the small machines of the benchmarks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from nrm import MooreMachine, minimise


def symmetries(machine: MooreMachine) -> Iterator[list[int]]:
    """The maps of letter classes that a renaming of states brings about; the machine must be minimal by outputs."""
    classes = {tuple(machine.columns[:, number].tolist()): number for number in range(machine.classes)}
    for images in itertools.permutations(range(machine.states)):
        if images[machine.initial] != machine.initial or (machine.outputs[list(images)] != machine.outputs).any():
            continue
        inverse = np.argsort(images)
        moved = [tuple(images[q] for q in machine.columns[inverse, number]) for number in range(machine.classes)]
        if all(column in classes for column in moved):
            yield [classes[column] for column in moved]


def accuracy_modulo_shortcuts(machine: MooreMachine, predicted: Sequence[int], true: Sequence[int]) -> float:
    """The best share, over symmetries, of predictions in the right class."""
    minimal = minimise(machine, by="outputs")
    seen, meant = minimal.letter_class[list(predicted)], minimal.letter_class[list(true)]
    return max(float((seen == np.array(images)[meant]).mean()) for images in symmetries(minimal))
