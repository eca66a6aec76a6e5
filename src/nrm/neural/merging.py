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

OPEN = -1


@dataclass(frozen=True, eq=False)
class Evidence:
    """What episodes say about a machine's table, by counts."""

    transitions: NDArray[np.int64]
    """(states, letters) how often each transition was taken."""
    states: NDArray[np.int64]
    """(states,) how often each state's level was seen."""


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


def merge_unseen(machine: MooreMachine, seen: Evidence, initial_level: float | None = None) -> MooreMachine:
    """The machine with states merged that no evidence separates; levels and moves that were seen are kept.

    The level of the initial state is `initial_level` when the episodes never come back to it.
    """
    table = np.where(seen.transitions > 0, machine.transitions, OPEN).astype(np.int32)
    outputs = [float(level) if count else None for level, count in zip(machine.outputs, seen.states, strict=True)]
    if outputs[machine.initial] is None:
        outputs[machine.initial] = initial_level
    blocks = _Blocks(table, outputs, list(range(machine.states)))
    blocks = _merged(blocks, seen, machine.initial)
    place = np.array([blocks.find(state) for state in range(machine.states)], dtype=np.int32)
    columns = machine.transitions.copy()
    levels = machine.outputs.copy()
    for state in range(machine.states):
        root = int(place[state])
        # What nobody has seen is taken to do nothing; a state where episodes end is absorbing.
        columns[state] = np.where(blocks.table[root] != OPEN, blocks.table[root], root)
        known = blocks.outputs[root]
        levels[state] = machine.outputs[root] if known is None else known
    best = machine.outputs[machine.accepting]
    accepting = np.isin(levels, best) if best.size else machine.accepting
    return MooreMachine.from_table(machine.alphabet, place[columns], accepting, levels, int(place[machine.initial]))


@dataclass(eq=False)
class _Blocks:
    """A partition of the states, with the open table and levels of each block at its root."""

    table: IntArray
    outputs: list[float | None]
    parent: list[int]

    def find(self, state: int) -> int:
        while self.parent[state] != state:
            state = self.parent[state]
        return state

    def merged(self, left: int, right: int) -> _Blocks | None:
        """With two states merged, and all that must then be merged too; None when levels clash."""
        result = _Blocks(self.table.copy(), list(self.outputs), list(self.parent))
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
            both = (result.table[a] != OPEN) & (result.table[b] != OPEN)
            waiting += zip(result.table[a][both].tolist(), result.table[b][both].tolist(), strict=True)
            result.table[a] = np.where(result.table[a] == OPEN, result.table[b], result.table[a])
        return result


def _merged(blocks: _Blocks, seen: Evidence, initial: int) -> _Blocks:
    """Red-blue merging: grow a core from the initial state; each state at its edge joins the core or becomes part."""
    core = [initial]
    while True:
        core = list(dict.fromkeys(blocks.find(state) for state in core))
        edge = [
            state
            for state in dict.fromkeys(
                blocks.find(int(target)) for root in core for target in blocks.table[root] if target != OPEN
            )
            if state not in core
        ]
        if not edge:
            return blocks
        best: tuple[int, _Blocks] | None = None
        # The state with the most evidence first: what it says is surest.
        state = max(edge, key=lambda candidate: int(seen.transitions[candidate].sum()))
        for root in core:
            joined = blocks.merged(root, state)
            if joined is not None:
                score = _agreement(blocks, joined, seen)
                if best is None or score > best[0]:
                    best = (score, joined)
        if best is None:
            core.append(state)
        else:
            blocks = best[1]


def _agreement(before: _Blocks, after: _Blocks, seen: Evidence) -> int:
    """How many visits to levels a merge brings together: the evidence that it is right."""
    joined = [state for state in range(len(before.parent)) if before.find(state) != after.find(state)]
    return int(sum(seen.states[state] for state in joined))
