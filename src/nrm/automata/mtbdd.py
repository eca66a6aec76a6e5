"""Ordered decision diagrams with any values at their leaves: functions from subsets of propositions to values.

Equal functions get equal numbers. Propositions are numbered from the top.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from nrm.errors import LimitError

Leaf = TypeVar("Leaf", bound=Hashable)

LEAF = 1 << 30
"""The "variable" of leaves: below every real one."""


class Mtbdd(Generic[Leaf]):
    """Nodes by number: `var[n]`, `low[n]` (variable false) and `high[n]`; at leaves `values[low[n]]` is the value."""

    def __init__(self, max_nodes: int) -> None:
        self.var: list[int] = []
        self.low: list[int] = []
        self.high: list[int] = []
        self.values: list[Leaf] = []
        self._max_nodes = max_nodes
        self._unique: dict[tuple[int, int, int], int] = {}
        self._leaves: dict[Leaf, int] = {}

    def leaf(self, value: Leaf) -> int:
        """The function that has this value everywhere."""
        number = self._leaves.get(value)
        if number is None:
            number = self._leaves[value] = self._add(LEAF, len(self.values), len(self.values))
            self.values.append(value)
        return number

    def node(self, var: int, low: int, high: int) -> int:
        """The function "if `var` then `high` else `low`"; `var` must stand above both."""
        if low == high:
            return low
        key = (var, low, high)
        number = self._unique.get(key)
        if number is None:
            number = self._unique[key] = self._add(var, low, high)
        return number

    def _add(self, var: int, low: int, high: int) -> int:
        number = len(self.var)
        if number > self._max_nodes:
            raise LimitError(
                f"the formula needs more than {self._max_nodes:,} decision diagram nodes; "
                "simplify it, split it into several tasks, or raise the limit (Limits(nodes=...))"
            )
        self.var.append(var)
        self.low.append(low)
        self.high.append(high)
        return number

    def is_leaf(self, node: int) -> bool:
        """Whether a function has one value everywhere."""
        return self.var[node] == LEAF

    def value(self, node: int) -> Leaf:
        """The value of a leaf."""
        return self.values[self.low[node]]

    def at(self, node: int, true: Container[int]) -> Leaf:
        """The value where exactly these variables are true."""
        while self.var[node] != LEAF:
            node = self.high[node] if self.var[node] in true else self.low[node]
        return self.value(node)

    def apply(self, f: int, g: int, join: Callable[[Leaf, Leaf], Leaf], done: dict[tuple[int, int], int]) -> int:
        """The function of both values joined; `done` keeps what was found, one dictionary a `join`."""
        key = (f, g)
        result = done.get(key)
        if result is None:
            u, v = self.var[f], self.var[g]
            if u == v == LEAF:
                result = self.leaf(join(self.value(f), self.value(g)))
            else:
                f_low, f_high = (self.low[f], self.high[f]) if u <= v else (f, f)
                g_low, g_high = (self.low[g], self.high[g]) if v <= u else (g, g)
                low, high = self.apply(f_low, g_low, join, done), self.apply(f_high, g_high, join, done)
                result = self.node(min(u, v), low, high)
            done[key] = result
        return result

    def map(self, f: int, change: Callable[[Leaf], Leaf], done: dict[int, int]) -> int:
        """The function with its values changed; `done` keeps what was found, one dictionary a `change`."""
        result = done.get(f)
        if result is None:
            if self.var[f] == LEAF:
                result = self.leaf(change(self.value(f)))
            else:
                low, high = self.map(self.low[f], change, done), self.map(self.high[f], change, done)
                result = self.node(self.var[f], low, high)
            done[f] = result
        return result

    def choice(self, var: int, low: int, high: int, done: dict[tuple[int, int, int], int]) -> int:
        """If `var` then `high` else `low`, which may ask for variables above it; `done` keeps what was found."""
        if low == high:
            return low
        key = (var, low, high)
        result = done.get(key)
        if result is None:
            top = min(self.var[low], self.var[high])
            if var < top:
                result = self.node(var, low, high)
            else:
                lows, highs = (
                    (self.low[node], self.high[node]) if self.var[node] == top else (node, node) for node in (low, high)
                )
                false, true = (self.choice(var, lows[side], highs[side], done) for side in (0, 1))
                result = self.node(top, false, true)
            done[key] = result
        return result

    def below(self, roots: Iterable[int]) -> Iterator[int]:
        """Every node that some function uses, once, in a fixed order."""
        pending = list(roots)[::-1]
        seen = set(pending)
        while pending:
            node = pending.pop()
            yield node
            if self.var[node] != LEAF:
                for child in (self.high[node], self.low[node]):
                    if child not in seen:
                        seen.add(child)
                        pending.append(child)
