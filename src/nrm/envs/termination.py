"""When an episode of a task ends."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from nrm.aliases import BoolArray
from nrm.errors import EnvError, unknown
from nrm.machines import MooreMachine, TaskSet, unsatisfiable

End = Literal["outcome", "absorbing", "limit"]
"""`outcome`: at an accepting state or a failure (the paper's). `absorbing`: at a state that no letter leaves. `limit`:
only when the environment itself ends, for tasks that can be lost again or hold from the start, as `G(a -> F b)`."""


def ending_states(machine: MooreMachine, end: End) -> BoolArray:
    """(states,) where the episode ends. An accepting state need not be absorbing to be an outcome."""
    if end not in get_args(End):
        raise EnvError(unknown("end", end, get_args(End)))
    if end == "limit":
        return np.zeros(machine.states, dtype=np.bool_)
    ending = machine.absorbing if end == "absorbing" else machine.accepting | machine.dead
    if ending[machine.initial]:
        how = (
            "no letter leaves the first state"
            if end == "absorbing"
            else f"the task {unsatisfiable(machine.alphabet)}"
            if machine.dead[machine.initial]
            else "the task holds before the first step"
        )
        raise EnvError(
            f"{how}, so with end='{end}' every episode could end at once; use end='limit' (nrm train --end limit) to "
            "go on to the time limit"
        )
    return ending


def pool_ending_states(tasks: TaskSet, end: End) -> BoolArray:
    """(states of the union,) where episodes of many tasks end; an error names the task."""
    return np.concatenate([_named(*pair, end) for pair in zip(tasks.names, tasks.machines, strict=True)])


def _named(name: str, machine: MooreMachine, end: End) -> BoolArray:
    try:
        return ending_states(machine, end)
    except EnvError as error:
        raise EnvError(f"the task {name}: {error}") from None
