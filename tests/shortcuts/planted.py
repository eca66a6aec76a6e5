"""Machines with symmetries planted: random ones have none, and a count of 1 would test nothing."""

from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from nrm.machines import Alphabet, MooreMachine

NAMES = "abcdefghij"


def machine_of(table: Any, outputs: Any) -> MooreMachine:
    """A machine over as many exclusive symbols as the table has columns."""
    table = np.asarray(table)
    symbols = NAMES[: table.shape[1]]
    return MooreMachine.from_table(Alphabet.exclusive(symbols), table, np.zeros(len(table), bool), np.asarray(outputs))


@st.composite
def tables(draw: st.DrawFn, letters: int, max_states: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Any machine whose first state is left and differs from some other.

    Drawn by a seed: drawn entry by entry, most tables would be all zeros, and minimise to one state.
    """
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states = int(generator.integers(2, max_states + 1))
    table, outputs = generator.integers(0, states, (states, letters)), generator.integers(0, 3, states)
    table[0, generator.integers(letters)] = 1
    outputs[1] = (outputs[0] + 1) % 3
    return table, outputs


@st.composite
def copies(draw: st.DrawFn, letters: int) -> tuple[np.ndarray, np.ndarray]:
    """Several copies of one machine, each moved by letters of its own; the output forgets which copy is where."""
    own = draw(st.sampled_from([size for size in (1, 2) if letters % size == 0]))
    count = letters // own
    table, outputs = draw(tables(own, 4 if count <= 2 else 2))
    states = list(product(range(len(table)), repeat=count))
    number = {state: index for index, state in enumerate(states)}
    rows = [
        [
            number[(*state[:copy], int(table[state[copy], letter]), *state[copy + 1 :])]
            for copy in range(count)
            for letter in range(own)
        ]
        for state in states
    ]
    levels = np.array([sum(4 ** int(outputs[part]) for part in state) for state in states])
    if draw(st.integers(0, 3)) == 0:
        # Moves with symmetries that the outputs do not have.
        levels[draw(st.integers(0, len(states) - 1))] += 1
    return np.array(rows), levels


def cycle(letters: int) -> tuple[np.ndarray, np.ndarray]:
    """The first letter must be followed by the next one of a circle: the symmetries are the rotations."""
    won, lost = letters + 1, letters + 2
    seconds = [
        [won if letter == (first + 1) % letters else lost for letter in range(letters)] for first in range(letters)
    ]
    rows = [[1 + letter for letter in range(letters)], *seconds, [won] * letters, [lost] * letters]
    return np.array(rows), np.array([0] * (letters + 1) + [1, -1])


@st.composite
def planted(draw: st.DrawFn, most_letters: int = 4) -> MooreMachine:
    """A machine with a few letters, mostly with symmetries, with letters of equal action, and both of them mixed."""
    base = draw(st.sampled_from([*range(1, most_letters + 1), *range(2, most_letters)]))
    kinds = [tables(base), copies(base), copies(base)]
    if base >= 3:
        kinds.append(st.just(cycle(base)))
    table, outputs = draw(st.one_of(kinds))
    room = most_letters - base
    twins = draw(st.lists(st.integers(0, base - 1), min_size=draw(st.integers(0, room)), max_size=room))
    columns = draw(st.permutations([*range(base), *twins]))
    return machine_of(table[:, columns], outputs)
