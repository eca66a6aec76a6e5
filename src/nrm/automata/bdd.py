"""A small ordered binary decision diagram.

Just what the translation needs, in plain Python: node creation, conjunction and disjunction. Equal functions get
equal numbers, which is what makes progression terminate.
"""

from __future__ import annotations

from nrm.errors import LimitError

FALSE = 0
TRUE = 1
TERMINAL = 1 << 30
"""The "variable" of the two constants: below every real one."""


class Bdd:
    """Nodes by number: `var[n]`, `low[n]` (variable false) and `high[n]` (variable true)."""

    def __init__(self, max_nodes: int) -> None:
        self.var = [TERMINAL, TERMINAL]
        self.low = [0, 1]
        self.high = [0, 1]
        self._max_nodes = max_nodes
        self._unique: dict[tuple[int, int, int], int] = {}
        self._conjunctions: dict[tuple[int, int], int] = {}
        self._disjunctions: dict[tuple[int, int], int] = {}

    def node(self, var: int, low: int, high: int) -> int:
        """The function "if `var` then `high` else `low`"; `var` must stand above both."""
        if low == high:
            return low
        key = (var, low, high)
        number = self._unique.get(key)
        if number is None:
            number = len(self.var)
            if number > self._max_nodes:
                raise LimitError(
                    f"the formula needs more than {self._max_nodes:,} decision diagram nodes; "
                    "simplify it, split it into several tasks, or raise the limit (Limits(nodes=...))"
                )
            self._unique[key] = number
            self.var.append(var)
            self.low.append(low)
            self.high.append(high)
        return number

    def literal(self, var: int, positive: bool) -> int:
        """The function that is the variable, or its negation."""
        return self.node(var, FALSE, TRUE) if positive else self.node(var, TRUE, FALSE)

    def conjunction(self, f: int, g: int) -> int:
        """F and g."""
        return self._apply(f, g, TRUE, FALSE, self._conjunctions)

    def disjunction(self, f: int, g: int) -> int:
        """F or g."""
        return self._apply(f, g, FALSE, TRUE, self._disjunctions)

    def _apply(self, f: int, g: int, neutral: int, absorbing: int, done: dict[tuple[int, int], int]) -> int:
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
            low = self._apply(f_low, g_low, neutral, absorbing, done)
            high = self._apply(f_high, g_high, neutral, absorbing, done)
            result = done[f, g] = self.node(u if u < v else v, low, high)
        return result
