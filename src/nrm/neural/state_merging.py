"""Merging the states of a learned machine that its episodes do not tell apart.

A machine learned with more states than the task needs spreads over them, and some of its transitions no episode ever
took: what they are is chance. Those transitions are left open here, and states are merged by evidence as state-merging
learners of automata do, so that open transitions become those of an equal state. What is still open then does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.machines import MooreMachine

UNSEEN = -1
"""The successor where no episode took the transition."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What episodes say about a machine's table, by counts."""

    transitions: NDArray[np.int64]
    """(states, letters) how often each transition was taken."""
    states: NDArray[np.int64]
    """(states,) how often each state's potential was seen."""


def evidence(machine: MooreMachine, traces: list[NDArray[np.int64]]) -> Evidence:
    """Count what traces of letters visit."""
    transitions = np.zeros((machine.states, machine.alphabet.size), dtype=np.int64)
    states = np.zeros(machine.states, dtype=np.int64)
    table = machine.transitions
    for letters in traces:
        state = machine.initial
        for letter in letters.tolist():
            transitions[state, letter] += 1
            state = int(table[state, letter])
            states[state] += 1
    return Evidence(transitions, states)


def merge_states(machine: MooreMachine, seen: Evidence, initial_level: float | None = None) -> MooreMachine:
    """The machine with states merged that no evidence separates; potentials and moves that were seen are kept.

    The potential of the initial state is `initial_level` when the episodes never come back to it.
    """
    table = np.where(seen.transitions > 0, machine.transitions, UNSEEN).astype(np.int32)
    outputs = [float(level) if count else None for level, count in zip(machine.outputs, seen.states, strict=True)]
    if outputs[machine.initial] is None:
        outputs[machine.initial] = initial_level
    blocks = _red_blue(_Partition(table, outputs, list(range(machine.states))), seen, machine.initial)
    place = np.array([blocks.find(state) for state in range(machine.states)], dtype=np.int32)
    columns = machine.transitions.copy()
    levels = machine.outputs.copy()
    for state in range(machine.states):
        root = int(place[state])
        # What nobody has seen is taken to do nothing; a state where episodes end is absorbing.
        columns[state] = np.where(blocks.table[root] != UNSEEN, blocks.table[root], root)
        known = blocks.outputs[root]
        levels[state] = machine.outputs[root] if known is None else known
    best = machine.outputs[machine.accepting]
    accepting = np.isin(levels, best) if best.size else machine.accepting
    return MooreMachine.from_table(machine.alphabet, place[columns], accepting, levels, int(place[machine.initial]))


@dataclass(eq=False)
class _Partition:
    """A partition of the states, with the open table and potentials of each block at its root."""

    table: IntArray
    outputs: list[float | None]
    parent: list[int]

    def find(self, state: int) -> int:
        while self.parent[state] != state:
            state = self.parent[state]
        return state

    def merged(self, left: int, right: int) -> _Partition | None:
        """With two states merged, and all that must then be merged too; None when potentials clash."""
        result = _Partition(self.table.copy(), list(self.outputs), list(self.parent))
        waiting = [(left, right)]
        while waiting:
            a, b = (result.find(state) for state in waiting.pop())
            if a == b:
                continue
            known = (result.outputs[a], result.outputs[b])
            if None not in known and known[0] != known[1]:
                return None
            result.parent[b] = a
            result.outputs[a] = known[1] if known[0] is None else known[0]
            both = (result.table[a] != UNSEEN) & (result.table[b] != UNSEEN)
            waiting += zip(result.table[a][both].tolist(), result.table[b][both].tolist(), strict=True)
            result.table[a] = np.where(result.table[a] == UNSEEN, result.table[b], result.table[a])
        return result


def _red_blue(partition: _Partition, seen: Evidence, initial: int) -> _Partition:
    """Blue-fringe merging: each blue state, a successor of red ones, is merged into one of these or becomes red."""
    red = [initial]
    while True:
        red = list(dict.fromkeys(partition.find(state) for state in red))
        successors = (partition.find(int(next_)) for root in red for next_ in partition.table[root] if next_ != UNSEEN)
        blue = [state for state in dict.fromkeys(successors) if state not in red]
        if not blue:
            return partition
        # The state with the most evidence first: what it says is surest.
        state = max(blue, key=lambda candidate: int(seen.transitions[candidate].sum()))
        merges = [merged for root in red if (merged := partition.merged(root, state)) is not None]
        if merges:
            partition = max(merges, key=lambda merged: _score(partition, merged, seen))
        else:
            red.append(state)


def _score(before: _Partition, after: _Partition, seen: Evidence) -> int:
    """How many visits to potentials a merge brings together: the evidence that it is right."""
    joined = [state for state in range(len(before.parent)) if before.find(state) != after.find(state)]
    return int(sum(seen.states[state] for state in joined))
