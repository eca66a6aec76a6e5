"""Whether a task asks for something that can be done, in words."""

from __future__ import annotations

from nrm.machines.alphabet import Alphabet
from nrm.machines.moore import MooreMachine


def not_asked(machine: MooreMachine) -> str:
    """Why a task asks for nothing, or for the impossible; empty where it asks for something."""
    steps = int(machine.distance_to_acceptance[machine.initial])
    if steps > 0:
        return ""
    return "holds before anything has happened" if steps == 0 else unsatisfiable(machine.alphabet)


def unsatisfiable(alphabet: Alphabet) -> str:
    """That a task cannot be satisfied, with what is easily forgotten of its symbols."""
    return f"cannot be satisfied{' (one symbol holds at a time)' if alphabet.is_exclusive else ''}"
