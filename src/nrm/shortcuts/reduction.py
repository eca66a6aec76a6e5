"""From machines to the one minimal machine that decides what rewards can teach about their letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from nrm.errors import AlphabetError, MachineError, listing
from nrm.machines import MooreMachine, minimise, product

SMALL = 2048
"""Entries of a transition table below which plain Python checks minimality faster than arrays do."""


def reduced(machine: MooreMachine) -> MooreMachine:
    """The machine without unreachable states, and without states and letters that rewards cannot tell apart."""
    if machine.columns.size <= SMALL and _is_reduced(machine):
        return machine
    return minimise(machine, by="outputs")


def joint(machines: Sequence[MooreMachine]) -> MooreMachine:
    """The machine of several tasks that run side by side, its output the combination of theirs.

    A map of letters keeps the rewards of every task iff it keeps those of this machine. Its outputs are numbers of
    combinations, not potentials.
    """
    if not machines:
        raise MachineError("no machine was given; give at least one task")
    check_alphabets(machines)
    result = reduced(machines[0])
    for machine in machines[1:]:
        result = minimise(_pairs(result, reduced(machine)), by="outputs")
    return result


def check_alphabets(machines: Iterable[MooreMachine]) -> None:
    """Raise `AlphabetError` unless all machines read the same letters."""
    first, *others = machines
    for number, machine in enumerate(others, start=2):
        if machine.alphabet != first.alphabet:
            unknown = [symbol for symbol in machine.alphabet.symbols if symbol not in first.alphabet.symbols]
            reason = f"'{unknown[0]}' is no symbol of the first; " if unknown else ""
            raise AlphabetError(
                f"task {number} has another alphabet than the first task: {machine.alphabet.kind} "
                f"({listing(machine.alphabet.symbols)}), not {first.alphabet.kind} "
                f"({listing(first.alphabet.symbols)}); {reason}compile all tasks over one list of symbols"
            )


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


def _is_reduced(machine: MooreMachine) -> bool:
    """Whether all states are reachable and differ, and all classes are in use and differ."""
    rows = machine.columns.tolist()
    seen = {machine.initial}
    for state in (pending := [machine.initial]):
        fresh = set(rows[state]) - seen
        seen |= fresh
        pending.extend(fresh)
    if len(seen) < len(rows):
        return False
    if not all(machine.class_sizes) or len(set(zip(*rows, strict=True))) < machine.classes:
        return False
    before = 0
    for blocks in refinements(rows, machine.outputs.tolist()):
        count = len(set(blocks))
        if count in (before, len(rows)):
            break
        before = count
    return count == len(rows)


def refinements(rows: Sequence[Sequence[int]], labels: Sequence[float]) -> Iterator[Sequence[float]]:
    """Moore's partition refinement, round by round: for each state the number of its block after 0, 1, 2 … steps."""
    blocks = labels
    while True:
        yield blocks
        keys: dict[tuple[float, ...], int] = {}
        pairs = zip(blocks, rows, strict=True)
        blocks = [keys.setdefault((block, *[blocks[target] for target in row]), len(keys)) for block, row in pairs]
