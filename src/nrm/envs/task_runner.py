"""How the machines of tasks move, and where their episodes end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.aliases import BoolArray
from nrm.aliases import End as End
from nrm.envs.base import BatchedEnv, StepBatch
from nrm.errors import EnvError, LimitError, unknown
from nrm.machines import MachineLike, MooreMachine, TaskSet, as_task_set, unsatisfiable


def ending_states(tasks: MachineLike | TaskSet, end: End) -> BoolArray:
    """(states,) where the episodes of tasks end, by the states of their union.

    An accepting state need not be absorbing to be an outcome.
    """
    if end not in get_args(End):
        raise EnvError(unknown("end", end, get_args(End)))
    known = as_task_set(tasks)
    names = known.names if len(known) > 1 else ("",)  # a task alone needs none
    return np.concatenate([_named(*pair, end, known) for pair in zip(names, known.machines, strict=True)])


def _named(name: str, machine: MooreMachine, end: End, tasks: TaskSet) -> BoolArray:
    if machine.dead[machine.initial] and not np.ptp(machine.outputs):
        raise EnvError(f"the task{name and f' {name}'} {unsatisfiable(machine.alphabet)}; give another formula")
    if end == "limit":
        return np.zeros(machine.states, dtype=np.bool_)
    over = machine.accepting | machine.dead if end == "round" else tasks.outcome(machine)
    ending = machine.absorbing if end == "absorbing" else over
    if ending[machine.initial]:
        how = "no letter leaves its first state" if end == "absorbing" else "it holds before the first step"
        if end == "outcome" and machine.dead[machine.initial]:  # it may be a machine of rewards alone
            how = f"it {unsatisfiable(machine.alphabet)}"
        raise EnvError(
            f"every episode{name and f' of the task {name}'} could end at once with end='{end}', for {how}; use "
            "end='limit' (nrm train --end limit) to go on to the time limit"
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


class TerminalRewards:
    """An environment that pays all rewards of an episode together, at its end."""

    def __init__(self, env: BatchedEnv, end: End) -> None:
        """`end`: where its episodes end."""
        self._env = env
        tasks, union = env.tasks, env.machine
        begun = union.outputs[tasks.initial][tasks.task_of_state]
        self._paid = torch.from_numpy((union.outputs - begun).astype(np.float32))
        goes_on = union.level_of_state[~ending_states(tasks, end)]
        self.withheld = np.isin(np.arange(len(union.levels)), goes_on)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def step(self, actions: Tensor) -> StepBatch:
        shown = self._env.step(actions)
        paid = self._paid[self._env.truth.final_state]
        return shown._replace(reward=torch.where(shown.terminated | shown.truncated, paid, 0.0))


def with_terminal_rewards(env: BatchedEnv, end: End) -> BatchedEnv:
    """An environment that pays at the end of an episode only."""
    return cast(BatchedEnv, TerminalRewards(env, end))
