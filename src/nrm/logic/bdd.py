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
        if f == g or g == TRUE:
            return f
        if f == TRUE:
            return g
        if f == FALSE or g == FALSE:
            return FALSE
        if f > g:
            f, g = g, f
        key = (f, g)
        result = self._conjunctions.get(key)
        if result is None:
            u, v = self.var[f], self.var[g]
            if u == v:
                low = self.conjunction(self.low[f], self.low[g])
                high = self.conjunction(self.high[f], self.high[g])
            elif u < v:
                low, high = self.conjunction(self.low[f], g), self.conjunction(self.high[f], g)
            else:
                low, high = self.conjunction(f, self.low[g]), self.conjunction(f, self.high[g])
                u = v
            result = self._conjunctions[key] = self.node(u, low, high)
        return result

    def disjunction(self, f: int, g: int) -> int:
        """F or g."""
        if f == g or g == FALSE:
            return f
        if f == FALSE:
            return g
        if f == TRUE or g == TRUE:
            return TRUE
        if f > g:
            f, g = g, f
        key = (f, g)
        result = self._disjunctions.get(key)
        if result is None:
            u, v = self.var[f], self.var[g]
            if u == v:
                low = self.disjunction(self.low[f], self.low[g])
                high = self.disjunction(self.high[f], self.high[g])
            elif u < v:
                low, high = self.disjunction(self.low[f], g), self.disjunction(self.high[f], g)
            else:
                low, high = self.disjunction(f, self.low[g]), self.disjunction(f, self.high[g])
                u = v
            result = self._disjunctions[key] = self.node(u, low, high)
        return result
