"""From machines to the one minimal machine that decides what rewards can teach; maps of letters by name and number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from nrm.aliases import Letter, SymbolMap
from nrm.errors import AlphabetError, MachineError
from nrm.machines import Alphabet, MooreMachine, minimise, product


def map_letters(alphabet: Alphabet, mapping: SymbolMap) -> dict[Letter, Letter]:
    """The images of letters under a map by names; letters that it does not name stay what they are."""
    values: dict[Letter, Letter] = {}
    if not is_by_names(mapping):
        wrong = next(name for pair in mapping.items() for name in pair if not isinstance(name, str))
        raise AlphabetError(f"a map takes names of letters to names of letters; {wrong!r} is no name")
    for name, image in mapping.items():
        values[alphabet.letter(alphabet.read_step(name))] = alphabet.letter(
            alphabet.read_step(image), f"the image of '{name}'"
        )
    return values


def is_by_names(mapping: Mapping[Any, Any]) -> TypeGuard[SymbolMap]:
    """Whether a map takes names to names."""
    return all(isinstance(name, str) for pair in mapping.items() for name in pair)


def name_map(alphabet: Alphabet, values: Sequence[Letter]) -> dict[str, str]:
    """A map of letters by names."""
    return {alphabet.letter_name(letter): alphabet.letter_name(value) for letter, value in enumerate(values)}


def joint(machines: Sequence[MooreMachine]) -> MooreMachine:
    """The machine of several tasks that run side by side, its output the combination of theirs.

    A map of letters keeps the rewards of every task iff it keeps those of this machine. Its outputs are numbers of
    combinations, not potentials.
    """
    if not machines:
        raise MachineError("no machine was given; give at least one task")
    first, *others = (minimise(machine, by="outputs") for machine in machines)
    for other in others:
        first = minimise(_pairs(first, other), by="outputs")
    return first


def unrolled(machine: MooreMachine, horizon: int) -> MooreMachine:
    """A machine that behaves as `machine` for `horizon` steps, and then says nothing any more.

    Its shortcuts are those of `machine` on strings up to that length (Theorem 1): after the last step both it and its
    renamed twin are silent. States are pairs of time and state, and one silent state.
    """
    numbers: dict[tuple[int, int], int] = {(0, machine.initial): 0}
    order = [(0, machine.initial)]
    rows: list[list[int]] = []
    table = machine.columns.tolist()
    for time, state in order:
        row = []
        for target in table[state] if time < horizon else ():
            key = (time + 1, target)
            if key not in numbers:
                numbers[key] = len(order)
                order.append(key)
            row.append(numbers[key])
        rows.append(row)
    silent = len(order)
    rows = [row or [silent] * machine.classes for row in [*rows, []]]
    levels = machine.level_of_state.tolist()
    outputs = np.array([*(levels[state] for _, state in order), -1])
    return MooreMachine(machine.alphabet, machine.letters, np.array(rows), np.zeros(silent + 1, bool), outputs)


def _pairs(left: MooreMachine, right: MooreMachine) -> MooreMachine:
    levels = len(right.levels)
    left, right = (machine.with_outputs(machine.level_of_state) for machine in (left, right))
    return product(left, right, output=lambda a, b: a * levels + b)
