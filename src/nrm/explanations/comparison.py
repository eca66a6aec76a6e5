"""Two formulas side by side: equivalent, or a shortest trace that tells them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nrm.aliases import Step
from nrm.machines import MooreMachine, product
from nrm.machines.shortest import shortest_trace


@dataclass(frozen=True)
class Comparison:
    """How two tasks over one alphabet differ on non-empty traces."""

    only_first: tuple[Step, ...] | None
    """A shortest trace that satisfies the first and not the second; None if there is none."""
    only_second: tuple[Step, ...] | None
    """A shortest trace that satisfies the second and not the first."""

    @property
    def equivalent(self) -> bool:
        """Whether they are satisfied by the same traces."""
        return self.only_first is None and self.only_second is None

    @property
    def shortest(self) -> tuple[Step, ...] | None:
        """A shortest trace that tells them apart."""
        found = [trace for trace in (self.only_first, self.only_second) if trace is not None]
        return min(found, key=len) if found else None


def compare(left: MooreMachine, right: MooreMachine) -> Comparison:
    """Compare what two machines accept."""
    # Potentials of the product number the four cases: which of the two accepts.
    one, two = (machine.with_outputs(machine.accepting.astype(np.float64)) for machine in (left, right))
    both = product(one, two, output=lambda a, b: a + 2 * b)
    return Comparison(shortest_trace(both, both.outputs == 1), shortest_trace(both, both.outputs == 2))
