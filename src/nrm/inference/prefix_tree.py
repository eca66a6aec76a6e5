"""Episodes as one tree: histories that read the same letters share a node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """A tree of histories over the letters that count; what is read otherwise stays at a node. Node 0 is the root."""

    children: list[dict[int, int]]
    """For each node, the node after each letter."""
    counts: NDArray[np.int64]
    """(nodes, potentials) how often each potential was seen at a node."""
    of_step: NDArray[np.int64]
    """(steps,) the node that each step of the evidence leads to."""

    @property
    def visits(self) -> NDArray[np.int64]:
        """(nodes,) how many steps were seen at each."""
        result: NDArray[np.int64] = self.counts.sum(1)
        return result


def prefix_tree(evidence: Evidence, letters: tuple[int, ...]) -> PrefixTree:
    """The tree of all histories over some letters."""
    counts_for = np.zeros(evidence.letter_count, dtype=np.bool_)
    counts_for[list(letters)] = True
    steps = np.flatnonzero(counts_for[evidence.letters])
    episode = np.searchsorted(evidence.begun, steps, side="right") - 1
    children: list[dict[int, int]] = [{}]
    reached = np.zeros(len(steps), dtype=np.int64)
    node, last = 0, -1
    rows = zip(evidence.letters[steps].tolist(), episode.tolist(), strict=True)
    for place, (letter, number) in enumerate(rows):
        if number != last:
            node, last = 0, number
        following = children[node].get(letter)
        if following is None:
            following = children[node][letter] = len(children)
            children.append({})
        node = reached[place] = following
    # A step stays where the last letter that counts led to, or at the root.
    of_step = np.zeros(len(evidence.letters), dtype=np.int64)
    bounds = np.concatenate([steps, evidence.begun])
    values = np.concatenate([reached, np.zeros(len(evidence.begun), dtype=np.int64)])
    # Where an episode begins with a letter that counts, that letter's node comes after the root's, and wins.
    order = np.lexsort((values > 0, bounds))
    bounds, values = bounds[order], values[order]
    ends = np.append(bounds[1:], len(of_step))
    of_step[:] = np.repeat(values, ends - bounds)
    counts = np.zeros((len(children), evidence.level_count), dtype=np.int64)
    np.add.at(counts, (of_step, evidence.levels), 1)
    counts[0, evidence.initial] += len(evidence.lengths)
    return PrefixTree(children, counts, of_step)
