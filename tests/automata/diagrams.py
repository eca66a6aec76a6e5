"""Decision diagrams for few propositions too, so that they can be compared with tables."""

from __future__ import annotations

import pytest

from nrm.automata.move_diagram import MoveDiagram
from nrm.machines import MooreMachine


def use_diagrams(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("nrm.automata.letters.DENSE", 0)
    patch.setattr("nrm.automata.partition.MAX_LISTED", 0)


def in_diagrams(machine: MooreMachine) -> MooreMachine:
    """The same machine with its moves in a diagram, however few propositions there are."""
    moves = MoveDiagram.of_classes(machine.letters.function(len(machine.alphabet.symbols)), machine.columns)
    return MooreMachine.of_moves(machine.alphabet, moves, machine.accepting, machine.outputs, machine.initial)
