"""Move diagrams from tables of nodes, from letter classes, from each other, and in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import BoolArray, IntArray
from nrm.automata.letter_diagram import LetterDiagram
from nrm.automata.move_diagram import MoveDiagram, level_runs
from nrm.automata.mtbdd import Mtbdd
from nrm.errors import LimitError, MachineError

MAX_NODES = 4_000_000
"""Nodes of a diagram on its way into another order."""


def reordered(moves: MoveDiagram, order: tuple[int, ...]) -> MoveDiagram:
    """The same moves, asked for in another order, which may have more propositions."""
    if order == moves.order:
        return moves
    place = {proposition: level for level, proposition in enumerate(order)}
    levels = [place[proposition] for proposition in moves.order]
    if levels == sorted(levels):
        renamed = np.array(levels, dtype=np.int32)[moves.levels] if moves.nodes else moves.levels
        return replace(moves, order=order, levels=renamed)
    return _rebuilt(moves, order, levels)


def _rebuilt(moves: MoveDiagram, order: tuple[int, ...], levels: Sequence[int]) -> MoveDiagram:
    work: Mtbdd[int] = Mtbdd(MAX_NODES)
    made: list[int] = []
    done: dict[tuple[int, int, int], int] = {}
    old_levels, low, high, roots = moves.lists

    def below(child: int) -> int:
        return made[child] if child >= 0 else work.leaf(-1 - child)

    try:
        for level, one, two in zip(old_levels, low, high, strict=True):
            made.append(work.choice(levels[level], below(one), below(two), done))
    except LimitError:
        raise LimitError(
            f"with the propositions in this order the machine needs more than {MAX_NODES:,} decision diagram "
            "nodes; list those that the formula names together beside each other"
        ) from None
    tops = [below(root) for root in roots]
    return diagram_of_nodes(
        work.var,
        work.low,
        work.high,
        tops,
        lambda node: work.value(node) if work.is_leaf(node) else None,
        order,
        moves.propositions,
    )


def ascending(moves: MoveDiagram) -> MoveDiagram:
    """The same with propositions asked for in the order of their numbers, and no level without nodes."""
    used = {moves.order[level] for level, _ in moves.by_level}
    full = tuple(sorted(moves.order))
    kept = tuple(proposition for proposition in full if proposition in used)
    found = reordered(moves, full)
    place = np.cumsum([proposition in used for proposition in full], dtype=np.int32) - 1
    levels = place[found.levels].astype(np.int32) if found.nodes else found.levels
    return replace(found, order=kept, levels=levels)


def key_of(moves: MoveDiagram) -> tuple[object, ...]:
    """Equal for equal moves, with equal numbers of states."""
    own = ascending(moves)
    return (own.order, *(array.astype(np.int32).tobytes() for array in (own.levels, own.low, own.high, own.roots)))


def diagram_of_nodes(
    var: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    roots: Sequence[int],
    state: Callable[[int], int | None],
    order: tuple[int, ...],
    propositions: int,
) -> MoveDiagram:
    """The moves of states whose diagrams stand in a table of nodes; `state`: what a node is, None if it asks on."""
    found: dict[int, int] = {}
    asking: list[int] = []
    pending = list(dict.fromkeys(roots))
    while pending:
        node = pending.pop()
        if node in found:
            continue
        target = state(node)
        found[node] = 0 if target is None else -1 - target
        if target is None:
            asking.append(node)
            pending.append(high[node])
            pending.append(low[node])
    asking.sort(key=lambda node: -var[node])
    found.update({node: number for number, node in enumerate(asking)})
    return reduced(
        np.array([var[node] for node in asking], dtype=np.int64),
        np.array([found[low[node]] for node in asking], dtype=np.int64),
        np.array([found[high[node]] for node in asking], dtype=np.int64),
        np.array([found[root] for root in roots], dtype=np.int64),
        order,
        propositions,
    )


def given_diagram(
    propositions: int,
    order: Sequence[int],
    levels: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    roots: Sequence[int],
) -> MoveDiagram:
    """The diagram of numbers that were read from a file; `MachineError` where they make none."""
    try:
        asked = tuple(int(place) for place in order)
        arrays = [np.array(values, dtype=np.int64) for values in (levels, low, high, roots)]
    except (TypeError, ValueError, OverflowError):
        raise MachineError("a diagram of moves is made of whole numbers") from None
    nodes = len(arrays[0])
    if any(array.ndim != 1 for array in arrays) or not len(arrays[1]) == len(arrays[2]) == nodes or not len(arrays[3]):
        raise MachineError("a diagram has a level, a low and a high side for each node, and a root for each state")
    if len(set(asked)) < len(asked) or not set(asked) <= set(range(propositions)):
        raise MachineError(f"the levels of a diagram ask for different propositions, 0 to {propositions - 1}")
    if nodes and not 0 <= arrays[0].min() <= arrays[0].max() < len(asked):
        raise MachineError(f"the nodes of a diagram stand on levels 0 to {len(asked) - 1}")
    states = len(arrays[3])
    below = np.concatenate([arrays[0], np.full(states, len(asked))])
    for side in (*arrays[1:3], arrays[3]):
        if side.size and (side.min() < -states or side.max() >= nodes):
            raise MachineError("a diagram leads to nodes or states that are not there")
    for side in arrays[1:3]:
        # Negative numbers, states, are found at the end of `below`, under all levels.
        if (below[side] <= arrays[0]).any():
            raise MachineError("below each node of a diagram stand lower levels")
    by_level = np.argsort(-arrays[0], kind="stable")
    place = np.argsort(by_level, kind="stable")
    below_low, below_high = (_through(array[by_level], place) for array in arrays[1:3])
    roots_at = _through(arrays[3], place)
    return reduced(arrays[0][by_level], below_low, below_high, roots_at, asked, propositions)


def reduced(
    levels: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    roots: NDArray[np.int64],
    order: tuple[int, ...],
    propositions: int,
) -> MoveDiagram:
    """The reduced diagram of nodes that stand by level, the lowest first, and may be alike, in vain or unused."""
    used = _used(levels, low, high, roots)
    if not used.all():
        place = np.cumsum(used) - 1
        low, high, roots = (_through(array, place) for array in (low, high, roots))
        levels, low, high = levels[used], low[used], high[used]
    most = int(-min(-1, roots.min(initial=-1), low.min(initial=-1), high.min(initial=-1)))
    width = most + len(levels) + 1
    new = np.zeros(len(levels), dtype=np.int64)
    kept: list[NDArray[np.int64]] = []
    count = 0
    for start, stop in level_runs(levels):
        ends = [_through(array[start:stop], new) for array in (low, high)]
        asking = ends[0] != ends[1]
        codes = ((ends[0] + most) * width + ends[1] + most)[asking]
        distinct, ranks = np.unique(codes, return_inverse=True)
        here = ends[0]
        here[asking] = count + ranks
        new[start:stop] = here
        kept.append(
            np.stack([np.full(len(distinct), levels[start]), distinct // width - most, distinct % width - most])
        )
        count += len(distinct)
    tops = _through(roots, new)
    table = np.concatenate(kept, axis=1) if kept else np.zeros((3, 0), dtype=np.int64)
    found = tuple(array.astype(np.int32) for array in (*table, tops))
    return MoveDiagram(propositions, order, found[0], found[1], found[2], found[3])


def _through(references: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """References with other numbers (nodes,) of their nodes; those to states stay."""
    return np.where(references < 0, references, numbers[np.maximum(references, 0)]) if len(numbers) else references


def _used(
    levels: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], roots: NDArray[np.int64]
) -> BoolArray:
    """(nodes,) which nodes some root leads to."""
    used = np.zeros(len(levels), dtype=bool)
    used[roots[roots >= 0]] = True
    for start, stop in reversed(level_runs(levels)):
        for array in (low, high):
            children = array[start:stop][used[start:stop]]
            used[children[children >= 0]] = True
    return used


def union_of_moves(parts: Sequence[MoveDiagram]) -> MoveDiagram:
    """Automata side by side, one after the other; all ask in the order of the propositions' numbers."""
    order = tuple(sorted({proposition for part in parts for proposition in part.order}))
    arrays: list[list[NDArray[np.int64]]] = [[], [], [], []]
    states = nodes = 0
    for part in parts:
        own = reordered(part, order)
        arrays[0].append(own.levels.astype(np.int64))
        for place, array in enumerate((own.low, own.high, own.roots), 1):
            arrays[place].append(np.where(array < 0, array - states, array + nodes).astype(np.int64))
        states, nodes = states + own.states, nodes + own.nodes
    levels, low, high, roots = (np.concatenate(parts) for parts in arrays)
    return _reduced_in_any_order(levels, low, high, roots, order, parts[0].propositions)


def _reduced_in_any_order(
    levels: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    roots: NDArray[np.int64],
    order: tuple[int, ...],
    propositions: int,
) -> MoveDiagram:
    """As `reduced`, of nodes that do not stand by level yet."""
    by_level = np.argsort(-levels, kind="stable")
    place = np.empty(len(levels), dtype=np.int64)
    place[by_level] = np.arange(len(levels))
    low, high, roots = (_through(array, place) for array in (low[by_level], high[by_level], roots))
    return reduced(levels[by_level], low, high, roots, order, propositions)


def moves_of_classes(letters: LetterDiagram, columns: IntArray) -> MoveDiagram:
    """The moves (states, classes) of letter classes, state by state."""
    states = len(columns)
    made: list[NDArray[np.int64]] = []
    tables: list[tuple[NDArray[np.int64], ...]] = []
    count = 0

    def below(child: int) -> NDArray[np.int64]:
        return made[child] if child >= 0 else -1 - columns[:, -1 - child].astype(np.int64)

    for level, one, two in zip(letters.levels.tolist(), letters.low.tolist(), letters.high.tolist(), strict=True):
        numbers = np.arange(count, count + states)
        tables.append((np.full(states, level), below(one), below(two)))
        made.append(numbers)
        count += states
    arrays = [np.concatenate(parts) for parts in zip(*tables, strict=True)] or [np.zeros(0, dtype=np.int64)] * 3
    levels, low, high = arrays
    return _reduced_in_any_order(levels, low, high, below(letters.root), letters.order, letters.propositions)
