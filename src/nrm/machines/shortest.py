"""Shortest traces through a machine."""

from __future__ import annotations

from collections.abc import Mapping

from nrm.aliases import BoolArray, Letter, State, Step
from nrm.machines.moore import MooreMachine


def shortest_trace(machine: MooreMachine, goals: BoolArray) -> tuple[Step, ...] | None:
    """A shortest non-empty trace that ends in one of the states `goals` (states,); None if there is none."""
    came: dict[State, tuple[State | None, Letter]] = {}
    frontier: list[State | None] = [None]  # before the first step: the initial state may also be a goal, but later
    while frontier:
        following: list[State | None] = []
        for state in frontier:
            source = machine.initial if state is None else state
            for target, letter in machine.moves.plainest(source, machine.alphabet.plainest_first):
                if target in came:
                    continue
                came[target] = state, letter
                if goals[target]:
                    return tuple(machine.alphabet.decode(_path(came, target)))
                following.append(target)
        frontier = following
    return None


def _path(came: Mapping[State, tuple[State | None, Letter]], target: State) -> list[Letter]:
    path: list[Letter] = []
    state: State | None = target
    while state is not None:
        state, letter = came[state]
        path.append(letter)
    return path[::-1]
