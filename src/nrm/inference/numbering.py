"""Numbers of a new machine's states: those of the old states that they agree with, so that a policy keeps its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def agreement(
    before: NDArray[np.int64], after: NDArray[np.int64], old_states: int, new_states: int
) -> NDArray[np.int64]:
    """(new states, old states) at how many steps two machines are in both.

    before, after: (steps,) the states of the old machine and of the new one after each step of the same episodes.
    """
    shared = np.zeros((new_states, old_states), dtype=np.int64)
    np.add.at(shared, (after, before), 1)
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
