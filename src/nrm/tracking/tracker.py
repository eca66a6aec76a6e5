"""Following the machine of N environments: their beliefs, and the episodes that the grounder learns from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import EnvError, NrmWarning
from nrm.machines import LevelCodec, MooreMachine, TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.tracking.belief_step import Belief
from nrm.tracking.hypothesis_memory import HypothesisMemory
from nrm.tracking.letters import UNTOLD
from nrm.tracking.machine_learning import MachineLearning
from nrm.tracking.memories import (
    BeliefMemory,
    MachineMemory,
    StateMemory,
    TaskMemory,
    Transition,
    as_belief,
    begin,
    reset,
)
from nrm.tracking.recorder import RecordedEpisode, Recorder
from nrm.tracking.task_memories import TaskBeliefMemory, TaskStateMemory

UNTAKEN = 2_000
"""Recorded episodes that nobody took, after which somebody probably forgot to learn from them."""
UNPAID = 5_000
"""Steps without any pay after which an environment probably lacks its task."""


class Tracker:
    """What N environments' machines believe, step by step, for agents of other libraries.

    With a `NeuralRewardMachine` the belief comes from observations and rewards. With a `MooreMachine` it is the true
    state, one-hot, which the environments must tell (`info["machine_state"]`): a reward machine is that special case.
    With a `MachineLearning` it is the state of the machine that was learned so far.
    Where the model is of many tasks, or a `TaskSet` stands in its place, what is believed is the view of the task that
    an environment has, which it must tell when an episode begins (`info["task"]`).
    """

    def __init__(
        self,
        model: NeuralRewardMachine | MooreMachine | MachineLearning | TaskSet,
        count: int,
        belief: Belief = "open-loop",
        record: bool = True,
    ) -> None:
        """`record`: whether a neural machine's episodes are kept, until `take` is called."""
        self.model = model
        self.count = count
        self.memory = _memory(model, as_belief(belief))
        self.told = isinstance(model, MachineLearning) and model.letters.labelled
        """Whether `step` needs the true letters."""
        self._device = torch.device("cpu")
        if isinstance(model, NeuralRewardMachine):
            self._device = model.machine.levels.device
            self._codec = LevelCodec(model.machine.levels.cpu().numpy())
        self.many = isinstance(self.memory, TaskMemory)
        """Whether every episode has one of many tasks, which `restart` is told."""
        self._tasks = np.zeros(count, dtype=np.int64)
        self.expects_pay = False
        """Whether the environments have no task that anybody knows of, so that they must pay for one themselves."""
        self._unpaid = 0
        self._warned = False
        self.record = record and not self.sees_truth
        self.recorder = Recorder(count)
        self._finished: list[RecordedEpisode] = []
        self._steps = np.zeros(count, dtype=np.int64)
        self._unused = torch.zeros(count, dtype=torch.int64)
        self._carry = self.memory.start(count)

    @property
    def sees_truth(self) -> bool:
        """Whether `step` needs the machine's true states."""
        return self.memory.sees_truth

    @property
    def beliefs(self) -> NDArray[np.float32]:
        """(N, states) what is believed now; (N, width) the views of the tasks, where there are many."""
        return self.memory.feature(self._carry).float().cpu().numpy().copy()

    def step(
        self,
        observations: NDArray[Any],
        rewards: NDArray[Any],
        states: Callable[[], NDArray[Any]],
        letters: NDArray[np.int64] | None = None,
    ) -> None:
        """Take in a step of all environments, before any reset.

        observations: (N, …); rewards: (N,); states: gives the machine's true states (N,), asked for only where the
        truth is told; letters: (N,) the true letters, kept beside the episodes for evaluation, and to learn a machine
        over them.
        """
        self._steps += 1
        self._check_finite(observations)
        truth = torch.as_tensor(np.asarray(states(), dtype=np.int64)) if self.sees_truth else None
        rows = 0 if self.memory.table is None else len(self.memory.table)
        if truth is not None and int(truth.max()) >= rows:
            raise EnvError(
                f"the environment is in state {int(truth.max())} of its machine, but the one that is given has "
                f"{rows} states; give both the same"
            )
        if self.told and letters is None:
            raise EnvError(UNTOLD)
        self._carry = self._read(self._carry, observations, rewards, truth, letters)
        if isinstance(self.memory, BeliefMemory):
            self._check_levels(self.memory, rewards)
            self._check_pay(rewards)
        if self.record:
            self.recorder.add(rewards, observations, letters)

    def finish(self, done: NDArray[np.bool_]) -> None:
        """Give out the episodes of the environments that are done (N,); their beliefs stay until `restart`."""
        ended = self.recorder.finish(done)
        if self.many:
            ended = [episode._replace(task=int(self._tasks[episode.environment])) for episode in ended]
        self._finished += ended
        if len(self._finished) >= UNTAKEN and not self._warned:
            self._warned = True
            warnings.warn(
                f"{len(self._finished):,} episodes were recorded and nobody took them, so the grounder learns nothing: "
                "add callback=GroundingCallback(model) to agent.learn, or call tracker.take() and nrm.fit in a loop of "
                "your own; for evaluation, wrap with record=False",
                NrmWarning,
                stacklevel=3,
            )

    def restart(
        self, which: NDArray[np.bool_], first: NDArray[Any] | None = None, tasks: NDArray[np.int64] | None = None
    ) -> None:
        """Begin new episodes where `which` (N,) says so. An episode that was left early teaches as much as any.

        first: (N, …) what is seen now, to be checked; no machine reads it. tasks: (N,) the numbers of the tasks that
        the new episodes have, where there are many; what stands in other places is not looked at.
        """
        self.finish(which)
        self._steps[which] = 0
        if first is not None:
            self._check_finite(first)
        if self.many and tasks is not None:
            self._tasks = np.where(which, tasks, self._tasks)
        done = torch.from_numpy(np.array(which)).to(self._device)
        self._carry = reset(self.memory, self._carry, done, self._task_numbers)

    @property
    def _task_numbers(self) -> Tensor | None:
        return torch.from_numpy(self._tasks).to(self._device) if self.many else None

    def skip(self, which: NDArray[np.bool_], tasks: NDArray[np.int64] | None = None) -> None:
        """The last step was none where `which` (N,) says so, but the beginning of an episode. See `restart`."""
        self.recorder.forget(which)
        self.restart(which, tasks=tasks)

    def take(self) -> list[RecordedEpisode]:
        """The episodes that ended since the last call."""
        taken, self._finished = self._finished, []
        return taken

    def refresh(self) -> None:
        """After the grounder or the machine has learned: believe what it says now of all in the present episodes."""
        if self.sees_truth:
            return
        if isinstance(self.memory, BeliefMemory):
            self.memory.refresh()
        if not self.record:
            return
        carry = begin(self.memory, self.count, self._task_numbers)
        for time in range(len(self.recorder)):
            present, observations, rewards, letters = self.recorder.present(time)
            mask = torch.from_numpy(present).to(self._device)
            read = self._read(carry, observations, rewards, None, letters if self.told else None)
            carry = torch.where(mask.view(-1, *[1] * (carry.dim() - 1)), read, carry)
        self._carry = carry

    def _check_pay(self, rewards: NDArray[Any]) -> None:
        """Warn once where environments without a task pay nothing for long: rewards of 0 teach no symbol."""
        if not self.expects_pay:
            return
        if np.any(rewards):
            self.expects_pay = False
            return
        self._unpaid += self.count
        if self._unpaid >= UNPAID:
            self.expects_pay = False
            warnings.warn(
                f"{self._unpaid:,} steps have paid nothing but 0, and the environment has no task (nrm.TaskEnv), so "
                "there is nothing to learn symbols from: put the task on it with nrm.TaskEnv(env, machine, label)",
                NrmWarning,
                stacklevel=4,
            )

    def _check_levels(self, memory: BeliefMemory, rewards: NDArray[Any]) -> None:
        """Raise `EnvError` where the rewards so far lead to no potential."""
        reached = memory.level(self._carry).cpu().numpy()
        fits = self._codec.fits(reached)
        if not fits.all():
            index = int(np.flatnonzero(~fits)[0])
            raise EnvError(
                f"environment {index} paid {float(rewards[index]):g} at {self._step(index)}, leading to the potential "
                f"{float(reached[index]):g}; the potentials of this machine are {self._codec}. "
                "Rewards must be those of the task: put it on the environment with nrm.TaskEnv(env, machine, label), "
                "and wrappers that change rewards outside of this one"
            )

    def _check_finite(self, observations: NDArray[Any]) -> None:
        """Raise `EnvError` where an environment shows NaN or infinity, which would become the belief."""
        if observations.dtype.kind == "f" and not np.isfinite(observations).all():
            wrong = np.argwhere(~np.isfinite(observations))[0]
            raise EnvError(
                f"environment {int(wrong[0])} shows {observations[tuple(wrong)]} in its observation at "
                f"{self._step(int(wrong[0]))}; observations must be finite numbers"
            )

    def _step(self, index: int) -> str:
        """Where an environment is, for messages."""
        return f"step {self._steps[index]} of its episode" if self._steps[index] else "the beginning of its episode"

    def _read(
        self,
        carry: Tensor,
        observations: NDArray[Any],
        rewards: NDArray[Any],
        truth: Tensor | None,
        letters: NDArray[np.int64] | None = None,
    ) -> Tensor:
        # The machine that is told its state reads nothing else.
        seen = self._unused if truth is not None else torch.as_tensor(observations, device=self._device)
        paid = torch.as_tensor(np.asarray(rewards, dtype=np.float32), device=self._device)
        told = torch.as_tensor(letters) if self.told else None
        with torch.no_grad():
            return self.memory.read(carry, Transition(seen, None, self._unused, paid, truth, told))


_Followed = BeliefMemory | StateMemory | HypothesisMemory


def _memory(model: object, belief: Belief) -> _Followed:
    """What follows a model."""
    if isinstance(model, NeuralRewardMachine):
        model.eval()
        kind = BeliefMemory if model.tasks is None else TaskBeliefMemory
        return kind(model, None, belief)
    if isinstance(model, MooreMachine):
        return MachineMemory(model)
    if isinstance(model, TaskSet):
        return TaskStateMemory(model)
    if isinstance(model, MachineLearning):
        return model.memory
    raise EnvError(
        "a belief comes from a NeuralRewardMachine, from a MooreMachine or TaskSet whose true state the environment "
        f"tells, or from a machine that is learned (nrm.unknown_machine), not from {type(model).__name__}"
    )


def told_tasks(found: Any, count: int, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Numbers of tasks (N,) from what `info["task"]` held; an error where an episode that begins does not tell its."""
    numbers = np.full(count, None, dtype=object) if found is None else np.asarray(found, dtype=object)
    if numbers.shape != (count,) or any(not isinstance(one, (int, np.integer)) for one in numbers[which]):
        raise EnvError(
            "the model has many tasks, and this environment does not say which one an episode has, in info['task']; "
            "put the tasks on it with nrm.TaskEnv(env, pool, label)"
        )
    return np.array([one if begins else 0 for one, begins in zip(numbers, which, strict=True)], dtype=np.int64)


def told_states(found: Any, count: int) -> NDArray[np.int64]:
    """True states (N,) from what `info["machine_state"]` held; an error where nobody tells them."""
    states = np.asarray(found)
    if states.shape != (count,) or states.dtype.kind not in "iu":
        raise EnvError(
            "a reward machine needs the machine's true state in info['machine_state'] at every step, and this "
            "environment does not tell it; put the task on it with nrm.TaskEnv(env, machine, label), or give a "
            "NeuralRewardMachine, which needs no labels"
        )
    return states.astype(np.int64)
