"""The tasks of N environments: which one each has, and how far it is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from nrm.envs.base import task_digest
from nrm.envs.counter_rng import Words, draws
from nrm.envs.steppers import stepper
from nrm.envs.termination import End, ending_states, pool_ending_states
from nrm.errors import EnvError
from nrm.machines import MooreMachine, TaskSet

MAX_PROPOSITIONS = 62
"""Propositions whose letters fit into a number of 64 bits."""
_TASK_COUNTER = 1 << 33
"""The draw of an episode's task; environments draw from lower counters."""


class Judged(NamedTuple):
    """What the tasks made of a step of N environments."""

    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]


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
        count_of_names = len(machine.alphabet.symbols)
        if count_of_names > MAX_PROPOSITIONS and machine.alphabet.is_free:
            raise EnvError(
                f"environments that step side by side number letters by 64 bits; {count_of_names} propositions are "
                f"more than {MAX_PROPOSITIONS}. Put the task on single environments (TaskEnv)"
            )
        self._stepper = stepper(machine)
        self._ends = ending_states(machine, end) if self.given is None else pool_ending_states(tasks, end)
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

    def step(self, letters: NDArray[np.int64]) -> Judged:
        """Let the machines read letters (N,)."""
        self.state, paid = self._stepper.step(self.state, letters)
        self.final_state = self.state
        return Judged(paid, self._ends.take(self.state))

    def _drawn(self, keys: Words) -> NDArray[np.int64]:
        if len(self.tasks) == 1:
            return np.zeros(len(keys), dtype=np.int64)
        chance = (draws(keys, _TASK_COUNTER) >> np.uint64(11)).astype(np.float64) / (1 << 53)
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
