"""The tasks of N environments: which one each has, how far it is, and when its episode ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from nrm.aliases import BoolArray
from nrm.aliases import End as End
from nrm.envs.base import task_digest
from nrm.envs.counter_rng import Words, draws
from nrm.errors import EnvError, LimitError, unknown
from nrm.machines import MooreMachine, TaskSet, unsatisfiable


def ending_states(tasks: MooreMachine | TaskSet, end: End) -> BoolArray:
    """(states,) where the episodes of a task end, or those of many, by the states of their union.

    An accepting state need not be absorbing to be an outcome.
    """
    if end not in get_args(End):
        raise EnvError(unknown("end", end, get_args(End)))
    if isinstance(tasks, TaskSet):
        return np.concatenate([_named(*pair, end) for pair in zip(tasks.names, tasks.machines, strict=True)])
    return _named("", tasks, end)


def _named(name: str, machine: MooreMachine, end: End) -> BoolArray:
    if end == "limit":
        return np.zeros(machine.states, dtype=np.bool_)
    ending = machine.absorbing if end == "absorbing" else machine.accepting | machine.dead
    if ending[machine.initial]:
        how = "no letter leaves its first state" if end == "absorbing" else "it holds before the first step"
        if end == "outcome" and machine.dead[machine.initial]:
            how = f"it {unsatisfiable(machine.alphabet)}"
        raise EnvError(
            f"every episode of the task {name} could end at once with end='{end}', for {how}; use end='limit' "
            "(nrm train --end limit) to go on to the time limit"
        )
    return ending


States = NDArray[np.int64]
Paid = NDArray[np.float32]


Stepper: TypeAlias = Callable[[States, NDArray[np.int64]], tuple[States, Paid]]
"""From states (N,) and letters (N,) to the states that follow, and the differences of potentials."""


def stepper(machine: MooreMachine) -> Stepper:
    """By classes of letters, a lookup in a table; where there are too many of them, move by move."""
    try:
        letters_of, classes, columns = machine.letters, machine.classes, machine.columns
    except LimitError:
        return _by_moves(machine)
    moves = columns.astype(np.int64).ravel()
    paid = (machine.outputs[columns] - machine.outputs[:, None]).astype(np.float32).ravel()

    def step(states: States, letters: NDArray[np.int64]) -> tuple[States, Paid]:
        move = states * classes + letters_of.take(letters)
        return moves.take(move), paid.take(move)

    return step


def _by_moves(machine: MooreMachine) -> Stepper:
    outputs = machine.outputs

    def step(states: States, letters: NDArray[np.int64]) -> tuple[States, Paid]:
        after = machine.moves.take(states, letters)
        return after, (outputs.take(after) - outputs.take(states)).astype(np.float32)

    return step


class TaskRunner:
    """Runs the machines of N environments on the letters that they read. Each episode has a task of its own.

    Which one is drawn by the episode's key and the weights of the tasks, and depends on nothing drawn before.
    """

    def __init__(self, tasks: MooreMachine | TaskSet, count: int, end: End) -> None:
        """`tasks`: one task, or many."""
        self.given = tasks if isinstance(tasks, TaskSet) else None
        """The tasks, where many were given; None for one."""
        self.tasks = tasks = tasks if isinstance(tasks, TaskSet) else TaskSet.of([tasks])
        self.count = count
        self.end: End = end
        machine = tasks.union
        if machine.alphabet.size > 1 << 62:
            raise EnvError(
                f"environments that step side by side number letters by 64 bits; {len(machine.alphabet.symbols)} "
                "propositions are more than 62. Put the task on single environments (TaskEnv)"
            )
        self._step = stepper(machine)
        self._ends = ending_states(tasks, end)
        self._initial = tasks.initial.astype(np.int64)
        self._shares = np.arange(1, len(tasks) + 1) / len(tasks)
        self.weights = np.ones(len(tasks))
        """(tasks,) how often each is drawn, compared with the others."""
        self.task = np.zeros(count, dtype=np.int64)
        """(N,) the task that each environment has."""
        self.state = np.zeros(count, dtype=np.int64)
        """(N,) the state of the union that each is in."""
        self.final_state = self.state
        """(N,) the state that the last step reached, before any reset."""

    def weigh(self, weights: ArrayLike) -> None:
        """Draw the tasks of later episodes as often as these weights (tasks,) say."""
        given = np.asarray(weights, dtype=np.float64)
        if given.shape != (len(self.tasks),) or not np.isfinite(given).all() or given.min() < 0 or given.sum() <= 0:
            raise EnvError(f"weights are {len(self.tasks)} numbers from 0, not all 0; got {given}")
        self.weights = given
        self._shares = np.cumsum(given) / given.sum()

    def reset(self, keys: Words) -> None:
        """Begin episodes with these keys (N,) everywhere."""
        self.task = self._drawn(keys)
        self.state = self.final_state = self._initial.take(self.task)

    def begin(self, done: NDArray[np.bool_], keys: Words) -> None:
        """Begin the next episodes where `done` (N,) says so; keys: of these alone."""
        self.task = self.task.copy()
        self.task[done] = self._drawn(keys)
        self.state = np.where(done, self._initial.take(self.task), self.state)

    def step(self, letters: NDArray[np.int64]) -> tuple[Paid, BoolArray]:
        """Let the machines read letters (N,): what is paid, and where the task ends the episode."""
        self.state, paid = self._step(self.state, letters)
        self.final_state = self.state
        return paid, self._ends.take(self.state)

    def _drawn(self, keys: Words) -> NDArray[np.int64]:
        if len(self.tasks) == 1:
            return np.zeros(len(keys), dtype=np.int64)
        # Environments draw from lower counters.
        chance = (draws(keys, 1 << 33) >> np.uint64(11)).astype(np.float64) / (1 << 53)
        return np.searchsorted(self._shares, chance, side="right").astype(np.int64)

    def fingerprint(self) -> dict[str, Any]:
        """What a saved state must agree with."""
        return {"count": self.count, "end": self.end, "task": task_digest(self.tasks.union)}

    def state_dict(self) -> dict[str, Any]:
        """Tasks, states and weights."""
        arrays = (self.task, self.state, self.final_state, self.weights)
        names = ("task", "state", "final_state", "weights")
        return {name: torch.from_numpy(array.copy()) for name, array in zip(names, arrays, strict=True)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.task, self.state, self.final_state = (
            state[name].numpy().copy() for name in ("task", "state", "final_state")
        )
        self.weigh(state["weights"].numpy().copy())
