"""Partition refinement on move diagrams: states whose diagrams are equal once leaves are blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import IntArray
from nrm.automata.minimisation import Blocks, scattered, split
from nrm.automata.move_building import reduced
from nrm.automata.move_diagram import MoveDiagram

SMALL = 3_000
"""Nodes up to which plain Python is faster than arrays."""


def diagram_congruence(diagram: MoveDiagram, labels: NDArray[np.generic]) -> Blocks:
    """The coarsest partition of states that respects `labels` (states,) and every letter.

    Blocks are split by a fingerprint of each state's diagram with blocks at its leaves. Different fingerprints mean
    different moves, so no split is ever wrong; where no more are found, the diagrams themselves are compared.
    """
    blocks: Blocks = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    count = int(blocks.max()) + 1
    small = diagram.nodes <= SMALL
    while count < diagram.states:
        before = count
        blocks, count = split(blocks, _exact(diagram, blocks) if small else _prints(diagram, blocks))
        if count == before:
            if small:
                break
            tops = _relabelled(diagram, blocks).roots
            blocks, count = split(blocks, (tops.astype(np.int64) - tops.min()).astype(np.uint64))
            if count == before:
                break
    return blocks


def diagram_quotient(diagram: MoveDiagram, blocks: Blocks) -> tuple[MoveDiagram, IntArray]:
    """The diagram over blocks, and for each block one state that stands for it."""
    _, representatives = np.unique(blocks, return_index=True)
    return _relabelled(diagram, blocks, representatives), representatives.astype(np.int32)


def renumbered(diagram: MoveDiagram, kept: IntArray) -> MoveDiagram:
    """The diagram restricted to some states (closed under moves), numbered by their place."""
    place = np.zeros(diagram.states, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return _relabelled(diagram, place, kept)


def _relabelled(
    diagram: MoveDiagram, numbers: NDArray[np.integer], kept: NDArray[np.integer] | None = None
) -> MoveDiagram:
    """The diagrams of some states (all, when absent) with new numbers (states,) at the leaves."""
    roots = diagram.roots if kept is None else diagram.roots[kept]
    low, high, tops = (
        np.where(array < 0, -1 - numbers[np.maximum(-1 - array, 0)], array).astype(np.int64)
        for array in (diagram.low, diagram.high, roots)
    )
    return reduced(diagram.levels.astype(np.int64), low, high, tops, diagram.order, diagram.propositions)


def _exact(diagram: MoveDiagram, blocks: Blocks) -> NDArray[np.uint64]:
    """(states,) a number for each state, equal where their diagrams over blocks are."""
    levels, low, high, roots = diagram.lists
    leaves = blocks.tolist()
    numbers: list[int] = []
    unique: dict[tuple[int, int, int], int] = {}
    count = len(leaves)
    for level, one, two in zip(levels, low, high, strict=True):
        a = numbers[one] if one >= 0 else leaves[-1 - one]
        b = numbers[two] if two >= 0 else leaves[-1 - two]
        numbers.append(a if a == b else unique.setdefault((level, a, b), count + len(unique)))
    return np.array([numbers[root] if root >= 0 else leaves[-1 - root] for root in roots], dtype=np.uint64)


def _prints(diagram: MoveDiagram, blocks: Blocks) -> NDArray[np.uint64]:
    """(states,) a fingerprint of each state's diagram over blocks."""
    low, high, roots = diagram.places
    states = diagram.states
    values = np.empty(states + diagram.nodes, dtype=np.uint64)
    values[:states] = scattered(blocks + 1)
    weights = scattered(2 * np.arange(len(diagram.order)) + 3) | np.uint64(1)
    for level, part in diagram.by_level:
        a, b = values[low[part]], values[high[part]]
        mixed = scattered(a * weights[level] + (b ^ (b >> np.uint64(31))))
        values[states + part.start : states + part.stop] = np.where(a == b, a, mixed)
    return values[roots]
