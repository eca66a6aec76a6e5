"""Memories of agents that are given another task with every episode: they see it through the view of tasks.

Whatever the task, the policy sees numbers of one width, so a policy that has learned from some can follow others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nrm.aliases import BoolArray
from nrm.machines import LevelCodec, MooreMachine, TaskSet
from nrm.neural import NeuralRewardMachine, TaskMachines
from nrm.tracking.belief_step import IMPOSSIBLE, Belief
from nrm.tracking.memories import BeliefMemory, Report, StateMemory, Transition, reads_rewards

TINY = 1e-30
"""A belief of this much that a task is undecided is none."""


class TaskStateMemory(StateMemory):
    """The view from the true state of each environment's task, among the states of all tasks together."""

    def __init__(self, tasks: TaskSet, device: torch.device | None = None) -> None:
        super().__init__(torch.tensor(tasks.view, dtype=torch.float32, device=device), int(tasks.initial[0]))
        self._tasks = tasks
        self.view_letters = tasks.alphabet.size
        self._initials = torch.tensor(tasks.initial, dtype=torch.int64, device=device)
        self._first = torch.tensor(tasks.first[tasks.task_of_state], dtype=torch.int64, device=device)

    def begin(self, task: Tensor) -> Tensor:
        """The beginnings of tasks with these numbers (envs,)."""
        return self._initials[task]

    def states(self, carry: Tensor) -> Tensor:
        """(…, states) certainty of the state of each environment's own machine."""
        return torch.nn.functional.one_hot(carry - self._first[carry], self._tasks.max_states).float()

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:  # noqa: ARG002
        """The state of each environment's own machine."""
        return Report(states=self.states(reached))

    def with_tasks(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> TaskStateMemory:  # noqa: ARG002
        """The same memory for other tasks."""
        return TaskStateMemory(tasks, self._table.device)


class TaskBeliefMemory(BeliefMemory):
    """The view of a task under the belief over its machine's states (the expectation of the view).

    Where no rewards are read, the view is that of the states where the task is not decided yet: who wrongly believes
    it done looks for what may still be missing. The belief itself stays as it is. The carry is (envs, width + states +
    2): the view, the belief, the potential, and the task's number.
    """

    def _prepare(self) -> None:
        """Tables over the states of all tasks; padding, which no belief is in, has the last row."""
        machines = self.model.machine
        assert isinstance(machines, TaskMachines)
        self._machines, self._tasks = machines, machines.tasks
        device = machines.levels.device
        self._view = torch.tensor(self._tasks.view, dtype=torch.float32, device=device)
        self.size = int(self._view.shape[1])
        self.view_letters = self._tasks.alphabet.size
        outputs = torch.tensor(self._tasks.union.outputs, dtype=torch.float32)
        self._outputs = torch.nn.functional.pad(outputs, (0, 1), value=float("inf")).to(device)
        self._slack = LevelCodec(self._tasks.levels).slack
        undecided = torch.tensor(~decided(self._tasks.union))
        self._undecided = torch.nn.functional.pad(undecided, (0, 1)).to(device)
        self._states = self._tasks.max_states

    def _list(self) -> None:
        """Nothing: moves are those of each environment's own task."""

    def start(self, count: int) -> Tensor:
        """All at the beginning of the first task."""
        return self.begin(self._machines.initials.new_zeros(count))

    def begin(self, task: Tensor) -> Tensor:
        """Certain of the initial states of tasks with these numbers (envs,)."""
        belief = self._machines.start_of(task, self._states)
        level = torch.full((len(task),), self._machines.initial_level, device=task.device)
        return self._carry(belief, level, task)

    def _carry(self, belief: Tensor, level: Tensor, task: Tensor) -> Tensor:
        matters = belief if reads_rewards(self.belief) else self._where_undecided(belief, task)
        view = self._machines.expected(matters, task, self._view)
        return torch.cat([view, belief, level.unsqueeze(1), task.to(view.dtype).unsqueeze(1)], 1)

    def _where_undecided(self, belief: Tensor, task: Tensor) -> Tensor:
        """The belief given that the task is not decided; as it is where nothing speaks for that."""
        undecided = belief * self._undecided[self._machines.rows(task, self._states)]
        total = undecided.sum(1, keepdim=True)
        return torch.where(total > TINY, undecided / total.clamp(min=TINY), belief)

    @torch.no_grad()
    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """One step of the recursion, each environment by its own machine."""
        task = self.task(carry)
        letters = self._letters(self._said(carry, seen.observation)[0])
        belief = self._machines.step_of(task, self.states(carry), letters)
        level = self.level(carry) + seen.reward
        if reads_rewards(self.belief):
            belief = self._weighed(belief, level, task)
        return self._carry(belief, level, task)

    def _weighed(self, belief: Tensor, level: Tensor, task: Tensor) -> Tensor:
        """The belief given the potential. If it calls that impossible, the grounder is wrong: any state of it."""
        outputs = self._outputs[self._machines.rows(task, self._states)]
        allowed = ((outputs - level.unsqueeze(1)).abs() <= self._slack).to(belief.dtype)
        joint = belief * allowed
        total = joint.sum(1, keepdim=True)
        anything = allowed / allowed.sum(1, keepdim=True).clamp(min=1.0)
        return torch.where(total > IMPOSSIBLE, joint / total.clamp(min=IMPOSSIBLE), anything)

    def states(self, carry: Tensor) -> Tensor:
        """(…, states) the belief, over the states of each environment's own machine."""
        return carry[..., self.size : -2]

    def level(self, carry: Tensor) -> Tensor:
        """(…) the potential that the rewards so far lead to."""
        return carry[..., -2]

    def task(self, carry: Tensor) -> Tensor:
        """(…) the number of the task."""
        return carry[..., -1].long()

    def with_tasks(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> TaskBeliefMemory:
        """The same grounder for other tasks."""
        model = NeuralRewardMachine(self.model.grounder, tasks, self.model.emission).eval().to(self._view.device)
        return TaskBeliefMemory(model, frames, belief or self.belief)


def decided(machine: MooreMachine) -> BoolArray:
    """(states,) where nothing that comes can change any more whether the task is done."""
    return machine.dead | (machine.accepting & machine.absorbing)
