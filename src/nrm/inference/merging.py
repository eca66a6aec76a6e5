"""State merging: the nodes of a prefix tree that no evidence tells apart become one state.

Blue-fringe merging finds a small machine at once; `fewer_states` then looks for a smaller one by backtracking, within a
budget of merges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nrm.inference.evidence import Evidence, Ints

UNSEEN = -1
"""The successor where no episode took the transition."""


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """A tree of histories over the letters that count; what is read otherwise stays at a node. Node 0 is the root."""

    children: list[dict[int, int]]
    """For each node, the node after each letter."""
    counts: Ints
    """(nodes, potentials) how often each potential was seen at a node."""
    of_step: Ints
    """(steps,) the node that each step of the evidence leads to."""
    letters: tuple[int, ...]
    """Those that count."""
    letter_count: int
    """How many there are with the others."""

    @property
    def visits(self) -> Ints:
        """(nodes,) how many steps were seen at each."""
        result: Ints = self.counts.sum(1)
        return result

    @property
    def levels(self) -> Ints:
        """(nodes,) the potential that was seen most often at each."""
        result: Ints = self.counts.argmax(1)
        return result

    @property
    def slips(self) -> Ints:
        """(nodes,) how many potentials at each node are not its most common one."""
        result: Ints = self.visits - self.counts.max(1)
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
    return PrefixTree(children, counts, of_step, letters, evidence.letter_count)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A machine over letters. State 0 is the initial one."""

    table: Ints
    """(states, letters) the next state; `UNSEEN` where it is open."""
    levels: Ints
    """(states,) the index of the potential of each."""

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.levels)

    def reachable(self) -> Candidate:
        """What the initial state leads to, in the order in which a search by letters comes upon it."""
        order, place = search_order(self.table)
        return Candidate(place[self.table[order]], self.levels[order])


@dataclass(frozen=True, eq=False)
class Merged(Candidate):
    """A machine that came of a prefix tree; what no episode took is open."""

    of_node: Ints
    """(nodes,) the state that each node of the tree became; `UNSEEN` where merging ended before it came there."""


def merge(tree: PrefixTree, max_states: int | None = None) -> Merged:
    """The machine that blue-fringe merging finds. Past `max_states` it goes on only as far as it must to say so."""
    folding = Folding.of(tree)
    red = _blue_fringe(folding, 0, folding.visits.__getitem__, len, max_states)
    return folding.machine(red, tree.letter_count)


def _blue_fringe(
    folding: Folding,
    start: int,
    evidence: Callable[[int], float],
    score: Callable[[list[int]], float],
    max_states: int | None = None,
) -> list[int]:
    """Join each blue node, a successor of red ones, with the red one of the best score, or make it red.

    `evidence`: of a node; the node with the most is taken first, for what it says is surest. `score`: of the nodes
    that a join makes part of others.
    """
    red = [start]
    while True:
        red = list(dict.fromkeys(map(folding.find, red)))
        blue = folding.blue(red)
        if not blue or (max_states is not None and len(red) > max_states):
            return red
        node = max(blue, key=evidence)
        best, best_score = -1, -math.inf
        for state in red:
            mark = folding.mark()
            joined = folding.join(state, node)
            folding.undo(mark)
            if joined is not None and (value := score(joined)) > best_score:
                best, best_score = state, value
        if best < 0:
            red.append(node)
        else:
            folding.join(best, node)


def fewer_states(tree: PrefixTree, states: int, budget: int = 20_000) -> Merged | None:
    """A machine of at most so many states; None where there is none, or none is found by joining `budget` pairs."""
    folding = Folding.of(tree)
    folding.budget = budget
    red = _search(folding, [0], states)
    return None if red is None else folding.machine(red, tree.letter_count)


def _search(folding: Folding, red: list[int], most: int, choices: int = 0) -> list[int] | None:
    """Red states that explain everything, with the folding left as it is then; None where there are none."""
    red, start = list(red), folding.mark()
    while True:
        blue = folding.blue(red)
        if not blue:
            return red
        node, options = _least_open(folding, red, blue, most)
        promotes = len(red) < most
        if folding.budget < 0 or len(options) + promotes == 0 or choices > 200:
            folding.undo(start)
            return None
        if len(options) + promotes > 1:
            break
        if options:
            folding.join(options[0], node)
        else:
            red.append(node)
    for state in options:
        mark = folding.mark()
        folding.join(state, node)
        if (done := _search(folding, red, most, choices + 1)) is not None:
            return done
        folding.undo(mark)
    if promotes and (done := _search(folding, [*red, node], most, choices + 1)) is not None:
        return done
    folding.undo(start)
    return None


def _least_open(folding: Folding, red: list[int], blue: list[int], most: int) -> tuple[int, list[int]]:
    """The blue node with the fewest ways to go on, where a choice is least a guess, and its ways, the best first."""
    chosen, options = -1, list[int]()
    for node in sorted(blue, key=lambda one: -folding.visits[one]):
        found = []
        for state in red:
            mark = folding.mark()
            if (joined := folding.join(state, node)) is not None:
                found.append((-len(joined), state))
            folding.undo(mark)
        if chosen < 0 or len(found) < len(options):
            chosen, options = node, [state for _, state in sorted(found)]
        if len(options) + (len(red) < most) <= 1:
            break
    return chosen, options


class Folding:
    """A partition of a graph's nodes that stays deterministic, with a trail by which joins are undone."""

    def __init__(self, children: list[dict[int, int]], levels: Sequence[float | None], visits: Sequence[int]) -> None:
        """`children`: of each node by letter; `levels`: its potential, None where it agrees with any other."""
        self.budget = 1 << 60
        self.children = children
        self.levels = list(levels)
        self.visits = list(visits)
        self._parent = list(range(len(children)))
        self._trail: list[tuple[int, int, int]] = []

    @classmethod
    def of(cls, tree: PrefixTree) -> Folding:
        """The nodes of a tree."""
        return cls([dict(row) for row in tree.children], tree.levels.tolist(), tree.visits.tolist())

    def find(self, node: int) -> int:
        """The node that stands for the one given."""
        while self._parent[node] != node:
            node = self._parent[node]
        return node

    def blue(self, red: list[int]) -> list[int]:
        """The successors of red states that are not red, in order."""
        known = set(red)
        found = (self.find(child) for state in red for _, child in sorted(self.children[state].items()))
        return [node for node in dict.fromkeys(found) if node not in known]

    def mark(self) -> int:
        """Where the trail stands, to come back to."""
        return len(self._trail)

    def join(self, left: int, right: int) -> list[int] | None:
        """Make two nodes one, and all that must then be one; those that became part of others, None on a clash."""
        waiting = [(left, right)]
        joined, mark = list[int](), self.mark()
        find, children, levels = self.find, self.children, self.levels
        while waiting:
            a, b = waiting.pop()
            a, b = find(a), find(b)
            if a == b:
                continue
            self.budget -= 1
            if levels[a] != levels[b] and levels[b] is not None:
                if levels[a] is not None:
                    self.undo(mark)
                    return None
                levels[a] = levels[b]
                self._trail.append((_LEVEL, a, 0))
            joined.append(b)
            self._parent[b] = a
            self._trail.append((_PARENT, b, b))
            known = children[a]
            for letter, child in children[b].items():
                if letter in known:
                    waiting.append((known[letter], child))
                else:
                    known[letter] = child
                    self._trail.append((_CHILD, a, letter))
            self.visits[a] += self.visits[b]
            self._trail.append((_VISITS, a, self.visits[b]))
        return joined

    def undo(self, mark: int) -> None:
        """Take back all joins since a mark."""
        while len(self._trail) > mark:
            what, node, other = self._trail.pop()
            if what == _PARENT:
                self._parent[node] = node
            elif what == _CHILD:
                del self.children[node][other]
            elif what == _LEVEL:
                self.levels[node] = None
            else:
                self.visits[node] -= other

    def machine(self, red: list[int], letters: int) -> Merged:
        """The red states over so many letters, in the order of a search by these; what leads elsewhere is open."""
        number = {node: place for place, node in enumerate(red)}
        table = np.full((len(red), letters), UNSEEN, dtype=np.int64)
        for node in red:
            for letter, child in self.children[node].items():
                table[number[node], letter] = number.get(self.find(child), UNSEEN)
        of_node = [number.get(self.find(node), UNSEEN) for node in range(len(self._parent))]
        order, place = search_order(table)
        levels = np.array([self.levels[red[state]] for state in order], dtype=np.int64)
        return Merged(place[table[order]], levels, place[of_node])


_PARENT, _CHILD, _VISITS, _LEVEL = range(4)


def search_order(table: Ints) -> tuple[list[int], Ints]:
    """The states of a table in the order of a search by letters, and (states + 1,) the place of each there."""
    order = [0]
    for state in order:
        following = dict.fromkeys(table[state].tolist())
        order += [after for after in following if after != UNSEEN and after not in order]
    place = np.full(len(table) + 1, UNSEEN, dtype=np.int64)
    place[order] = np.arange(len(order))
    return order, place
