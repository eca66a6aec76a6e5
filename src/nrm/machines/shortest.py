"""Shortest traces through a machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from nrm.aliases import BoolArray, Letter, State, Step
from nrm.automata.letter_diagram import LetterDiagram
from nrm.automata.move_diagram import MoveDiagram
from nrm.automata.move_search import plainest_moves
from nrm.machines.moore import MooreMachine


def plainest_letters(machine: MooreMachine) -> Mapping[int, Letter]:
    """For each letter class one letter at which as little holds as possible, classes with little first."""
    if isinstance(machine.letters, LetterDiagram):
        found = machine.letters.plainest_letters()
        return dict(sorted(found.items(), key=lambda item: (item[1].bit_count(), item[1])))
    letters: dict[int, Letter] = {}
    if machine.alphabet.is_exclusive:
        order = range(machine.alphabet.size)
    else:
        order = np.argsort(machine.alphabet.letter_masks().sum(axis=1), kind="stable").tolist()
    for letter in order:
        letters.setdefault(int(machine.letter_class[letter]), letter)
        if len(letters) == machine.classes:
            break
    return letters


def shortest_trace(machine: MooreMachine, goals: BoolArray) -> tuple[Step, ...] | None:
    """A shortest non-empty trace that ends in one of the states `goals` (states,); None if there is none."""
    came: dict[State, tuple[State | None, Letter]] = {}
    frontier: list[State | None] = [None]  # before the first step: the initial state may also be a goal, but later
    while frontier:
        following: list[State | None] = []
        for state in frontier:
            for target, letter in _plainest_moves(machine, machine.initial if state is None else state):
                if target in came:
                    continue
                came[target] = state, letter
                if goals[target]:
                    return tuple(machine.alphabet.decode(_path(came, target)))
                following.append(target)
        frontier = following
    return None


def _plainest_moves(machine: MooreMachine, state: State) -> Iterable[tuple[State, Letter]]:
    """Where a state goes, and by what, letters at which little holds first."""
    if isinstance(machine.moves, MoveDiagram):
        return plainest_moves(machine.moves, state).items()
    row = machine.columns[state]
    return ((int(row[group]), letter) for group, letter in plainest_letters(machine).items())


def _path(came: Mapping[State, tuple[State | None, Letter]], target: State) -> list[Letter]:
    path: list[Letter] = []
    state: State | None = target
    while state is not None:
        state, letter = came[state]
        path.append(letter)
    return path[::-1]
