"""Machines from machines: minimal and canonical forms, products, and equivalence with a witness."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from nrm.aliases import FloatArray, State, Step
from nrm.errors import AlphabetError, MachineError
from nrm.logic import tables
from nrm.machines.moore import MooreMachine

Observed: TypeAlias = Literal["outputs and acceptance", "outputs"]
"""What tells states apart."""


def canonical(machine: MooreMachine) -> MooreMachine:
    """The reachable part, numbered in breadth-first order by letter: isomorphic machines become equal."""
    order = tables.bfs_order(machine.columns, machine.initial)
    columns, letter_class = tables.merge_columns(tables.renumber(machine.columns, order), machine.letter_class)
    # Merging sorts the columns by their first letter; the numbering must follow that order.
    final = tables.bfs_order(columns, 0)
    kept = order[final]
    return MooreMachine(
        machine.alphabet,
        letter_class,
        tables.renumber(columns, final),
        machine.accepting[kept],
        machine.outputs[kept],
    )


def minimise(machine: MooreMachine, by: Observed = "outputs and acceptance") -> MooreMachine:
    """The smallest machine of the same behaviour, in canonical numbering.

    `by="outputs"` looks at the levels alone: what an agent can tell apart who sees only rewards. Acceptance of merged
    states is then that of one of them.
    """
    if by not in get_args(Observed):
        raise MachineError(f"machines are minimised by {' or by '.join(map(repr, get_args(Observed)))}, not by {by!r}")
    labels = machine.level_of_state.astype(np.int64) * 2
    if by != "outputs":
        labels = labels + machine.accepting
    blocks = tables.coarsest_congruence(machine.columns, labels)
    columns, kept = tables.quotient(machine.columns, blocks)
    merged = MooreMachine(
        machine.alphabet,
        machine.letter_class,
        columns,
        machine.accepting[kept],
        machine.outputs[kept],
        int(blocks[machine.initial]),
    )
    return canonical(merged)


@dataclass(frozen=True)
class Difference:
    """A shortest trace on which two machines differ."""

    trace: tuple[Step, ...]
    left: str
    """What the first machine says at the end of the trace."""
    right: str
    """What the second machine says at the end of the trace."""

    def __str__(self) -> str:
        steps = ", ".join(step if isinstance(step, str) else "&".join(step) or "-" for step in self.trace)
        return f"after ({steps}) the first machine is {self.left}, the second {self.right}"


def difference(left: MooreMachine, right: MooreMachine, acceptance: bool = True) -> Difference | None:
    """A shortest trace after which outputs (or acceptance, unless `acceptance=False`) differ; None if equivalent."""
    _same_alphabet(left, right)
    # One letter for each pair of classes; the first letter of a pair is the one that is shown.
    codes = left.letter_class.astype(np.int64) * right.classes + right.letter_class
    _, letters = np.unique(codes, return_index=True)
    moves = sorted(int(letter) for letter in letters)

    def differ(a: State, b: State) -> bool:
        if left.outputs[a] != right.outputs[b]:
            return True
        return acceptance and bool(left.accepting[a] != right.accepting[b])

    start = (left.initial, right.initial)
    parents: dict[tuple[State, State], tuple[tuple[State, State], int] | None] = {start: None}
    queue = deque([start])
    while queue:
        pair = queue.popleft()
        if differ(*pair):
            return Difference(_path(pair, parents, left), _describe(left, pair[0]), _describe(right, pair[1]))
        for letter in moves:
            following = (left.next_state(pair[0], letter), right.next_state(pair[1], letter))
            if following not in parents:
                parents[following] = (pair, letter)
                queue.append(following)
    return None


def equivalent(left: MooreMachine, right: MooreMachine, acceptance: bool = True) -> bool:
    """Whether two machines over one alphabet give the same outputs (and acceptance) on every trace."""
    return difference(left, right, acceptance) is None


def product(
    left: MooreMachine,
    right: MooreMachine,
    accept: Callable[[bool, bool], bool] = lambda a, b: a and b,
    output: Callable[[float, float], float] = lambda a, b: a + b,
) -> MooreMachine:
    """Both machines side by side on the reachable pairs; by default both must accept and levels add up."""
    _same_alphabet(left, right)
    codes = left.letter_class.astype(np.int64) * right.classes + right.letter_class
    pairs_of_classes, letter_class = np.unique(codes, return_inverse=True)
    numbers = {(left.initial, right.initial): 0}
    pairs = list(numbers)
    rows: list[list[int]] = []
    for a, b in pairs:
        row = []
        for code in pairs_of_classes.tolist():
            p, q = divmod(code, right.classes)
            target = (int(left.columns[a, p]), int(right.columns[b, q]))
            if target not in numbers:
                numbers[target] = len(pairs)
                pairs.append(target)
            row.append(numbers[target])
        rows.append(row)
    accepting = [accept(bool(left.accepting[a]), bool(right.accepting[b])) for a, b in pairs]
    outputs: FloatArray = np.array([output(float(left.outputs[a]), float(right.outputs[b])) for a, b in pairs])
    return canonical(
        MooreMachine(left.alphabet, letter_class.astype(np.int32), np.array(rows), np.array(accepting), outputs)
    )


def _same_alphabet(left: MooreMachine, right: MooreMachine) -> None:
    if left.alphabet != right.alphabet:
        raise AlphabetError(
            f"the machines have different alphabets: {left.alphabet.kind} ({', '.join(left.alphabet.symbols)}) and "
            f"{right.alphabet.kind} ({', '.join(right.alphabet.symbols)}); build both over the same one"
        )


def _path(
    pair: tuple[State, State],
    parents: dict[tuple[State, State], tuple[tuple[State, State], int] | None],
    machine: MooreMachine,
) -> tuple[Step, ...]:
    letters: list[int] = []
    link = parents[pair]
    while link is not None:
        letters.append(link[1])
        link = parents[link[0]]
    return tuple(machine.alphabet.decode(letters[::-1]))


def _describe(machine: MooreMachine, state: State) -> str:
    return f"{'accepting' if machine.accepting[state] else 'not accepting'} at level {machine.outputs[state]:g}"
