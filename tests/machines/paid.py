"""What a reward machine pays, edge by edge: slow, and there to compare with."""

from __future__ import annotations

from nrm.aliases import Trace
from nrm.machines import RewardMachine


def rewards(read: RewardMachine, trace: Trace) -> list[float]:
    """What is paid at each step; nothing is paid any more after the end."""
    state: int | None = read.places[read.initial]
    paid = []
    for letter in read.alphabet.encode(trace):
        edge = -1 if state is None else int(read.fired[state, read._read[0].at(letter)])
        paid.append(float(read.edges[edge].reward) if edge >= 0 else 0.0)
        state = read.places[read.edges[edge].target] if edge >= 0 else None
    return paid
