"""Ordered decision diagrams under construction: functions from subsets of propositions to values.

Equal functions get equal numbers. Propositions are numbered from the top.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from nrm.errors import LimitError

_LEFT: ContextVar[list[float] | None] = ContextVar("left", default=None)
"""The work that is left to the translation under way."""


def spend(work: float) -> None:
    """Count work, in units of about a nanosecond; `LimitError` when a translation has used up all it may do."""
    if (left := _LEFT.get()) is not None:
        left[0] -= work
        if left[0] < 0:
            raise LimitError(
                "the formula takes too long to be translated; simplify it, split it into several tasks, or raise the "
                "limit (--max-states, Limits(work=...))"
            )


@dataclass(frozen=True)
class Limits:
    """How much work a translation may do before it stops with a `LimitError`."""

    states: int = 100_000
    """Most states of any automaton on the way."""
    cells: int = 50_000_000
    """Most entries of any transition table on the way (states times letter classes)."""
    nodes: int = 2_000_000
    """Most nodes of a decision diagram."""
    work: float = 2.5e9
    """Most work of a translation on its whole way; see `spend`. More states may take more."""

    @contextmanager
    def working(self) -> Iterator[None]:
        """While a formula is translated; within another translation its limit counts."""
        whole = self.work * max(1, self.states / 100_000)
        token = _LEFT.set(_LEFT.get() or [whole])
        try:
            yield
        finally:
            _LEFT.reset(token)

    def within(self, budget: Limits) -> Limits:
        """The same, with no more states and nodes than a budget."""
        return replace(self, states=min(self.states, budget.states), nodes=min(self.nodes, budget.nodes))

    def check(self, states: int, classes: int) -> None:
        """Raise `LimitError` when an automaton of this size is too large."""
        if states > self.states or states * classes > self.cells:
            raise LimitError(
                f"the automaton passes the limit at {states:,} states and {classes:,} letter classes "
                f"(limits: {self.states:,} states, {self.cells:,} table entries); simplify the formula, split it "
                "into several tasks, or raise the limit (--max-states, Limits(...))"
            )

    def check_nodes(self, nodes: int) -> None:
        """Raise `LimitError` when a decision diagram of so many nodes is too large."""
        if nodes > self.nodes:
            raise LimitError(
                f"the formula needs more than {self.nodes:,} decision diagram nodes; "
                "simplify it, split it into several tasks, or raise the limit (Limits(nodes=...))"
            )


DEFAULT_LIMITS = Limits()


Leaf = TypeVar("Leaf", bound=Hashable)

LEAF = 1 << 30
"""The "variable" of leaves: below every real one."""
FALSE, TRUE = 0, 1
"""The constants of `Bdd`."""


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
        self._choices: dict[tuple[int, int, int], int] = {}

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
        spend(1_500)
        if number > self._max_nodes:
            Limits(nodes=self._max_nodes).check_nodes(number)
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

    def choice(self, var: int, low: int, high: int) -> int:
        """If `var` then `high` else `low`, which may ask for variables above it."""
        if low == high:
            return low
        key = (var, low, high)
        result = self._choices.get(key)
        if result is None:
            top = min(self.var[low], self.var[high])
            if var < top:
                result = self.node(var, low, high)
            else:
                lows, highs = (
                    (self.low[node], self.high[node]) if self.var[node] == top else (node, node) for node in (low, high)
                )
                false, true = (self.choice(var, lows[side], highs[side]) for side in (0, 1))
                result = self.node(top, false, true)
            self._choices[key] = result
        return result

    def below(self, roots: Iterable[int], bottom: int = LEAF) -> Iterator[int]:
        """Every node that some function uses, once, in a fixed order; below the variable `bottom` the topmost ones."""
        pending = list(roots)[::-1]
        seen = set(pending)
        while pending:
            node = pending.pop()
            yield node
            if self.var[node] < bottom:
                for child in (self.high[node], self.low[node]):
                    if child not in seen:
                        seen.add(child)
                        pending.append(child)


class Bdd(Mtbdd[bool]):
    """Boolean functions: node `FALSE`, node `TRUE`, and fast conjunction and disjunction."""

    def __init__(self, max_nodes: int) -> None:
        super().__init__(max_nodes)
        self.leaf(False)
        self.leaf(True)
        self._conjunctions: dict[tuple[int, int], int] = {}
        self._disjunctions: dict[tuple[int, int], int] = {}

    def literal(self, var: int, positive: bool) -> int:
        """The function that is the variable, or its negation."""
        return self.node(var, FALSE, TRUE) if positive else self.node(var, TRUE, FALSE)

    def conjunction(self, f: int, g: int) -> int:
        """F and g."""
        return self._joined(f, g, TRUE, FALSE, self._conjunctions)

    def disjunction(self, f: int, g: int) -> int:
        """F or g."""
        return self._joined(f, g, FALSE, TRUE, self._disjunctions)

    def _joined(self, f: int, g: int, neutral: int, absorbing: int, done: dict[tuple[int, int], int]) -> int:
        if f == g or g == neutral:
            return f
        if f == neutral:
            return g
        if f == absorbing or g == absorbing:
            return absorbing
        if f > g:
            f, g = g, f
        result = done.get((f, g))
        if result is None:
            u, v = self.var[f], self.var[g]
            f_low, f_high, g_low, g_high = f, f, g, g
            if u <= v:
                f_low, f_high = self.low[f], self.high[f]
            if v <= u:
                g_low, g_high = self.low[g], self.high[g]
            low = self._joined(f_low, g_low, neutral, absorbing, done)
            high = self._joined(f_high, g_high, neutral, absorbing, done)
            result = done[f, g] = self.node(u if u < v else v, low, high)
        return result
