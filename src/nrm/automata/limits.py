"""How much work a construction may do."""

from __future__ import annotations

from dataclasses import dataclass

from nrm.errors import LimitError


@dataclass(frozen=True)
class Limits:
    """How much work a translation may do before it stops with a `LimitError`."""

    states: int = 100_000
    """Most states of any automaton on the way."""
    cells: int = 50_000_000
    """Most entries of any transition table on the way (states times letter classes)."""
    nodes: int = 2_000_000
    """Most nodes of a decision diagram."""

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
