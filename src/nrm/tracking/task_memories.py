"""Memories of agents that are given another task with every episode: they see it through the view of tasks.

Whatever the task, the policy sees numbers of one width (`nrm.machines.view`), so a policy that has learned from some
tasks can follow others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nrm.aliases import BoolArray
from nrm.machines import LevelCodec, MooreMachine, TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.tracking.memories import Belief, Transition, read_as

TINY = 1e-30
"""A belief of this much that a task is undecided is none."""


def decided(machine: MooreMachine) -> BoolArray:
    """(states,) where nothing that comes can change any more whether the task is done.

    A state that accepts and can still be lost is not: a memory does not know whether its environment ends there.
    """
    return machine.dead | (machine.accepting & machine.absorbing)


def view_table(tasks: TaskSet) -> Tensor:
    """(states, width) the view from each state of all tasks."""
    return torch.tensor(tasks.view, dtype=torch.float32)


class TaskStateMemory:
    """The view from the true state of each environment's task. The carry is (envs,) states of all tasks together."""

    sees_truth = True
    learns = False

    def __init__(self, tasks: TaskSet, device: torch.device | None = None) -> None:
        self._encoding = tasks.encoding
        self.table: Tensor | None = view_table(tasks).to(device)
        self.size = int(self.table.shape[1])
        self.view_letters = tasks.alphabet.size
        self._initial = torch.tensor(tasks.initial, dtype=torch.int64, device=device)
        self._first = torch.tensor(tasks.first[tasks.task_of_state], dtype=torch.int64, device=device)
        self._states = tasks.max_states

    def start(self, count: int) -> Tensor:
        """All at the beginning of the first task."""
        return self.begin(self._initial.new_zeros(count))

    def begin(self, task: Tensor) -> Tensor:
        """The beginnings of tasks with these numbers (envs,)."""
        return self._initial[task]

    def read(self, carry: Tensor, seen: Transition) -> Tensor:  # noqa: ARG002 - the truth needs no memory of its own
        """The states that were reached."""
        assert seen.state is not None
        return seen.state

    def feature(self, carry: Tensor) -> Tensor:
        """The view from there."""
        assert self.table is not None
        return self.table[carry]

    def states(self, carry: Tensor) -> Tensor:
        """(…, states) certainty of the state of each environment's own machine."""
        return torch.nn.functional.one_hot(carry - self._first[carry], self._states).float()

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> TaskStateMemory:  # noqa: ARG002 - it is told
        """Itself."""
        return self

    def with_tasks(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> TaskStateMemory:  # noqa: ARG002
        """The same memory for other tasks."""
        return TaskStateMemory(tasks.seen_as(self._encoding), self._initial.device)


class TaskBeliefMemory:
    """The view of a task under the belief over its machine's states (the expectation of the view).

    What is done next matters only where the task is not decided yet. So where no rewards are read the view is that of
    the undecided states: who wrongly believes the task done looks for what may still be missing, and does not stand
    still. The belief itself stays as it is.

    The carry is (envs, width + states + 2): the view, the belief, the potential that the rewards so far tell, and the
    number of the task. The view stands in it because a rollout is looked at many times.
    """

    sees_truth = False
    learns = False
    table: Tensor | None = None

    def __init__(self, model: NeuralRewardMachine, frames: Tensor | None, belief: Belief) -> None:
        """`model`: of many tasks; `frames`: all observations where they are listed, then read by their row numbers."""
        assert model.many is not None
        self.model = model
        self.belief: Belief = belief
        self._machines = model.many
        self._tasks = model.many.tasks
        device = model.many.levels.device
        self._view = view_table(self._tasks).to(device)
        self.size = int(self._view.shape[1])
        self.view_letters = self._tasks.alphabet.size
        # Padding, which no belief is in, has the last row.
        outputs = torch.tensor(self._tasks.union.outputs, dtype=torch.float32)
        self._outputs = torch.cat([outputs, torch.full((1,), float("inf"))]).to(device)
        self._slack = LevelCodec(self._tasks.levels).slack
        undecided = torch.tensor(~decided(self._tasks.union))
        self._undecided = torch.cat([undecided, torch.zeros(1, dtype=torch.bool)]).to(device)
        self._states = self._tasks.max_states
        self._frames = frames
        self._letters: Tensor | None = None
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Look at the grounder anew: after it has learned, all known frames are read once."""
        if self._frames is not None:
            self._letters = self._read_letters(self._frames)

    def _read_letters(self, observations: Tensor) -> Tensor:
        return self.model.letter_probs(self.model.ground(observations, check=False))

    def start(self, count: int) -> Tensor:
        """All at the beginning of the first task."""
        return self.begin(self._machines.initial.new_zeros(count))

    def begin(self, task: Tensor) -> Tensor:
        """Certain of the initial states of tasks with these numbers (envs,)."""
        belief = self._machines.start(task, self._states)
        level = torch.full((len(task),), self._machines.initial_level, device=task.device)
        return self._carry(belief, level, task)

    def _carry(self, belief: Tensor, level: Tensor, task: Tensor) -> Tensor:
        matters = belief if self.belief == "conditioned" else self._where_undecided(belief, task)
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
        letters = self.letters(carry, seen.observation)
        task = self.task(carry)
        if self.belief == "crisp" and self.model.counts:
            letters = (letters > 0.5).to(letters.dtype)  # of propositions, each by itself
        else:
            letters = read_as(letters, self.belief)
        belief = self._machines.step(self.states(carry), letters, task)
        level = self.level(carry) + seen.reward
        if self.belief == "conditioned":
            belief = self._weighed(belief, level, task)
        return self._carry(belief, level, task)

    @torch.no_grad()
    def letters(self, carry: Tensor, observation: Tensor) -> Tensor:  # noqa: ARG002 - it has no state but the belief
        """(envs, letters) how probable each is, where a step shows an observation or its row number."""
        return self._read_letters(observation) if self._letters is None else self._letters[observation]

    def _weighed(self, belief: Tensor, level: Tensor, task: Tensor) -> Tensor:
        """The belief given the potential. If it calls that impossible, the grounder is wrong: any state of it."""
        outputs = self._outputs[self._machines.rows(task, self._states)]
        allowed = ((outputs - level.unsqueeze(1)).abs() <= self._slack).to(belief.dtype)
        joint = belief * allowed
        total = joint.sum(1, keepdim=True)
        anything = allowed / allowed.sum(1, keepdim=True).clamp(min=1.0)
        return torch.where(total > 1e-6, joint / total.clamp(min=1e-6), anything)

    def feature(self, carry: Tensor) -> Tensor:
        """The view."""
        return carry[..., : self.size]

    def states(self, carry: Tensor) -> Tensor:
        """(…, states) the belief, over the states of each environment's own machine."""
        return carry[..., self.size : -2]

    def level(self, carry: Tensor) -> Tensor:
        """(…) the potential that the rewards so far lead to."""
        return carry[..., -2]

    def task(self, carry: Tensor) -> Tensor:
        """(…) the number of the task."""
        return carry[..., -1].long()

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> TaskBeliefMemory:
        """The same model on other frames."""
        return TaskBeliefMemory(self.model, frames, belief or self.belief)

    def with_tasks(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> TaskBeliefMemory:
        """The same grounder for other tasks."""
        seen = tasks.seen_as(self._tasks.encoding)
        model = NeuralRewardMachine(self.model.grounder, seen, self.model.emission).eval().to(self._view.device)
        return TaskBeliefMemory(model, frames, belief or self.belief)
