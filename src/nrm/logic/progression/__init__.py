"""From what a formula demands of a trace to an automaton, for every language that can say so in `Nodes`."""

from nrm.logic.progression.backward_reading import by_reversal
from nrm.logic.progression.explore import progress
from nrm.logic.progression.nodes import FALSE, TRUE, Nodes

__all__ = ["FALSE", "TRUE", "Nodes", "by_reversal", "progress"]
