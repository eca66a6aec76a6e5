"""Following the machine of N environments: their beliefs, and the episodes that the grounder learns from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.errors import EnvError, unknown
from nrm.machines import LevelCodec, MooreMachine, TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.tracking.beliefs import BeliefMemory, belief_memory
from nrm.tracking.letters import NO_SYMBOLS
from nrm.tracking.machine_learning import MachineLearning
from nrm.tracking.memories import Belief, Memory, StateMemory, Transition
from nrm.tracking.recorder import RecordedEpisode, Recorder

Info: TypeAlias = Callable[[str], Any]
"""Gives what N environments say under a key of `info` (N,); None where they say nothing."""


def _nothing(key: str) -> None:
    """What environments say that say nothing."""


class Tracker:
    """What N environments' machines believe, step by step, for agents of other libraries.

    With a `NeuralRewardMachine` the belief comes from observations and rewards; with a `MooreMachine` it is the true
    state, one-hot, which the environments must give (`info["machine_state"]`); with a `MachineLearning`, the state of
    the machine that was learned so far. With a `TaskSet`, or a model of one, what is believed is the view of the task
    that an environment has, whose number it must give when an episode begins (`info["task"]`).
    """

    def __init__(
        self,
        model: NeuralRewardMachine | MooreMachine | MachineLearning | TaskSet,
        count: int,
        belief: Belief = "open-loop",
        record: bool = True,
    ) -> None:
        """`record`: whether a neural machine's episodes are kept, until `take` is called."""
        if belief not in get_args(Belief):
            raise EnvError(unknown("belief", belief, get_args(Belief)))
        self.model = model
        self.count = count
        self.memory = _memory(model, belief)
        self.views_task = self.memory.view_letters is not None
        """Whether what is believed is the view of a task, whose number `restart` asks for."""
        self.record = record and not self.memory.sees_truth
        self.keeps_letters = False
        """Whether true letters (`info["letter"]`) are kept beside the episodes, for evaluation alone."""
        self.recorder = Recorder(count)
        self._needs_letters = isinstance(model, MachineLearning) and model.letters.labelled
        self._device = torch.device("cpu")
        if isinstance(model, NeuralRewardMachine):
            self._device = model.machine.levels.device
            self._codec = LevelCodec(model.machine.levels.cpu().numpy())
        self._tasks = np.zeros(count, dtype=np.int64)
        self._finished: list[RecordedEpisode] = []
        self._steps = np.zeros(count, dtype=np.int64)
        self._unused = torch.zeros(count, dtype=torch.int64)
        self._carry = self.memory.start(count)

    @property
    def beliefs(self) -> NDArray[np.float32]:
        """(N, states) what is believed now; (N, width) the views of the tasks, where there are many."""
        return self.memory.feature(self._carry).float().cpu().numpy().copy()

    def step(self, observations: NDArray[Any], rewards: NDArray[Any], info: Info = _nothing) -> None:
        """Take in a step of all environments, before any reset.

        observations: (N, …); rewards: (N,); info: gives the machine's true states, where the memory sees them, and the
        true letters, to learn a machine over them or to be kept beside the episodes for evaluation.
        """
        self._steps += 1
        self._check_finite(observations)
        truth = self._states(info) if self.memory.sees_truth else None
        letters = self._letters(info) if self._needs_letters or self.keeps_letters else None
        self._carry = self._read(self._carry, observations, rewards, truth, letters)
        self._check_levels(rewards)
        if self.record:
            self.recorder.add(rewards, observations, letters)

    def finish(self, done: NDArray[np.bool_]) -> None:
        """Give out the episodes of the environments that are done (N,); their beliefs stay until `restart`."""
        ended = self.recorder.finish(done)
        if self.views_task:
            ended = [episode._replace(task=int(self._tasks[episode.environment])) for episode in ended]
        self._finished += ended

    def restart(self, which: NDArray[np.bool_], first: NDArray[Any] | None = None, info: Info = _nothing) -> None:
        """Begin new episodes where `which` (N,) says so. An episode that was left early teaches as much as any.

        first: (N, …) what is seen now, to be checked; no machine reads it. info: gives the numbers of the tasks that
        the new episodes have, where the memory views tasks; what stands in other places is not looked at.
        """
        self.finish(which)
        self._steps[which] = 0
        if first is not None:
            self._check_finite(first)
        if self.views_task:
            self._tasks[which] = self._begun(info, which)
        done = torch.from_numpy(np.array(which)).to(self._device)
        self._carry = self.memory.reset(self._carry, done, self._task_numbers)

    @property
    def _task_numbers(self) -> Tensor:
        return torch.from_numpy(self._tasks).to(self._device)

    def skip(self, which: NDArray[np.bool_], info: Info = _nothing) -> None:
        """The last step was none where `which` (N,) says so, but the beginning of an episode. See `restart`."""
        self.recorder.forget(which)
        self.restart(which, info=info)

    def take(self) -> list[RecordedEpisode]:
        """The episodes that ended since the last call."""
        taken, self._finished = self._finished, []
        return taken

    def refresh(self) -> None:
        """After the grounder or the machine has learned: what it says now of all in the present episodes."""
        self.memory.refresh()
        if not self.record:
            return
        carry = self.memory.begin(self._task_numbers)
        for time in range(len(self.recorder)):
            present, observations, rewards, letters = self.recorder.present(time)
            mask = torch.from_numpy(present).to(self._device)
            read = self._read(carry, observations, rewards, None, letters)
            carry = torch.where(mask.view(-1, *[1] * (carry.dim() - 1)), read, carry)
        self._carry = carry

    def _states(self, info: Info) -> Tensor:
        """(N,) the true states; an error where nobody gives them, or where they are those of another machine."""
        states = np.asarray(info("machine_state"))
        if states.shape != (self.count,) or states.dtype.kind not in "iu":
            raise EnvError(
                "a reward machine needs the true state in info['machine_state'] at every step; put the task on the "
                "environment with nrm.TaskEnv(env, machine, label), or give a NeuralRewardMachine"
            )
        rows = 0 if self.memory.table is None else len(self.memory.table)
        if int(states.max()) >= rows:
            raise EnvError(f"the environment is in state {int(states.max())}, but the given machine has {rows} states")
        return torch.as_tensor(states.astype(np.int64))

    def _letters(self, info: Info) -> NDArray[np.int64] | None:
        """(N,) the true letters; an error where they are needed and nobody gives them."""
        letters = np.asarray(info("letter"))
        if letters.shape == (self.count,) and letters.dtype.kind in "iu":
            return letters
        if self._needs_letters:
            raise EnvError(NO_SYMBOLS)
        return None

    def _begun(self, info: Info, which: NDArray[np.bool_]) -> list[int]:
        """The numbers of the tasks of the episodes that begin; an error where nobody gives them."""
        found = info("task")
        numbers = [] if found is None else [found[index] for index in np.flatnonzero(which)]
        if len(numbers) < which.sum() or any(not isinstance(one, (int, np.integer)) for one in numbers):
            raise EnvError(
                "a model of many tasks needs the number of the task in info['task']; put the tasks on the "
                "environment with nrm.TaskEnv(env, tasks, label)"
            )
        return numbers

    def _check_levels(self, rewards: NDArray[Any]) -> None:
        """Raise `EnvError` where the rewards so far lead to no potential of a belief."""
        if not isinstance(self.memory, BeliefMemory):
            return
        reached = self.memory.level(self._carry).cpu().numpy()
        wrong = np.flatnonzero(~self._codec.fits(reached))
        if len(wrong):
            index = int(wrong[0])
            raise EnvError(
                f"environment {index} paid {float(rewards[index]):g} at {self._step(index)}, leading to the potential "
                f"{float(reached[index]):g}; the potentials of this machine are {self._codec}. Rewards must be those "
                "of the task: use nrm.TaskEnv(env, machine, label), and put wrappers that change rewards outside"
            )

    def _check_finite(self, observations: NDArray[Any]) -> None:
        """Raise `EnvError` where an environment shows NaN or infinity, which would become the belief."""
        if observations.dtype.kind == "f" and not np.isfinite(observations).all():
            wrong = np.argwhere(~np.isfinite(observations))[0]
            place, value = int(wrong[0]), observations[tuple(wrong)]
            raise EnvError(f"environment {place} shows {value} in its observation at {self._step(place)}; clip it")

    def _step(self, index: int) -> str:
        """Where an environment is, for messages."""
        return f"step {self._steps[index]} of its episode" if self._steps[index] else "the beginning of its episode"

    def _read(
        self,
        carry: Tensor,
        observations: NDArray[Any],
        rewards: NDArray[Any],
        truth: Tensor | None,
        letters: NDArray[np.int64] | None,
    ) -> Tensor:
        # The machine that is given its state reads nothing else.
        seen = self._unused if truth is not None else torch.as_tensor(observations, device=self._device)
        paid = torch.as_tensor(np.asarray(rewards, dtype=np.float32), device=self._device)
        known = None if letters is None else torch.as_tensor(letters)
        with torch.no_grad():
            return self.memory.read(carry, Transition(seen, None, self._unused, paid, truth, known))


_MEMORIES: dict[type, Callable[[Any, Belief], Memory]] = {
    NeuralRewardMachine: lambda model, belief: belief_memory(model.eval(), None, belief),
    MooreMachine: lambda machine, _: StateMemory.of(machine),
    TaskSet: lambda tasks, _: StateMemory(tasks),
    MachineLearning: lambda learning, _: learning.memory,
}
"""What follows a model, by its type."""


def _memory(model: object, belief: Belief) -> Memory:
    """What follows a model."""
    for kind, made in _MEMORIES.items():
        if isinstance(model, kind):
            return made(model, belief)
    able = "a NeuralRewardMachine, MooreMachine, TaskSet or nrm.tracking.unknown_machine()"
    raise EnvError(f"a belief comes from {able}, not from {type(model).__name__}")
