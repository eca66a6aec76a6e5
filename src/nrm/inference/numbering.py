"""Numbers of a new machine's states: those of the old states that they agree with, so that a policy keeps its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.inference.evidence import Evidence
from nrm.inference.hypothesis import Hypothesis


def agreement(old: Hypothesis, new: Hypothesis, evidence: Evidence) -> NDArray[np.int64]:
    """(new states, old states) at how many steps of some episodes the machines are in both."""
    shared = np.zeros((new.states, old.states), dtype=np.int64)
    np.add.at(shared, (new.follow(evidence), old.follow(evidence)), 1)
    return shared


def renumbered(shared: NDArray[np.int64], old: NDArray[np.int64], room: int) -> NDArray[np.int64]:
    """(new states,) their numbers below `room`, given those of the old states (old states,).

    The initial states have one number. Then pairs that agree at the most steps come first; a state that agrees with
    none that is left gets a number that nobody had, or else that nobody has any more.
    """
    count = len(shared)
    result = np.full(count, -1, dtype=np.int64)
    result[0] = old[0]
    taken = {0}
    order = np.argsort(-shared, axis=None, kind="stable")
    for new, known in zip(*(part.tolist() for part in np.unravel_index(order, shared.shape)), strict=True):
        if shared[new, known] and result[new] < 0 and known not in taken:
            result[new] = old[known]
            taken.add(known)
    used = set(result.tolist())
    fresh = [number for number in range(room) if number not in set(old.tolist())]
    free = iter([*fresh, *(number for number in old.tolist() if number not in used)])
    for state in range(count):
        if result[state] < 0:
            result[state] = next(free)
    return result
