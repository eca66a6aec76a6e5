"""What an agent remembers of a task, as a pure function on an explicit state, the *carry*.

`begin` starts episodes, `read` takes in what a step showed, `reset` starts over where an episode ended, and `feature`
is what the policy sees (paper, "Comparisons").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

from nrm.machines import MooreMachine, TaskSet

Belief: TypeAlias = Literal["filtered", "open-loop", "argmax"]
"""`filtered`: weighed by the potential that the rewards received so far tell. `open-loop`: from the observations alone,
as in the paper. `argmax`: likewise, by the most probable letter of each step, so that small doubts do not add up."""


def reads_rewards(belief: Belief | None) -> bool:
    """Whether a kind of belief takes rewards as evidence; so does a memory as it is, where none is named."""
    return belief in (None, "filtered")


class Transition(NamedTuple):
    """What a step of N environments showed, before any reset."""

    observation: Tensor
    """(envs, …) the observation, or its row number among the frames."""
    features: Tensor | None
    """(envs, width) its features: given to memories that learn, which read them."""
    action: Tensor
    """(envs,) the action that led to it, or (envs, size) where actions are rows of numbers."""
    reward: Tensor
    """(envs,) what was paid; zeros in tests that read no rewards, for memories that then take them for nothing."""
    state: Tensor | None
    """(envs,) the machine's true state: given to memories that see the truth alone."""
    letter: Tensor | None = None
    """(envs,) the true letter that was read, for memories that are given the symbols."""


class Report(NamedTuple):
    """What a memory believes after a step, for tests and films; None where it has no such thing."""

    letters: Tensor | None = None
    """(envs, letters) how probable the grounder called each."""
    states: Tensor | None = None
    """(envs, states) the belief over the states of the environment's machine."""
    learned: Tensor | None = None
    """(envs, states) the same over the states of a machine that was learned."""
    read: Tensor | None = None
    """(envs,) the number of the letter that such a machine read; negative where it is a new one."""


class Memory(ABC):
    """A memory for N environments at once."""

    size: int
    """Width of the feature."""
    sees_truth = False
    """Whether `read` is given the machine's true state."""
    learns = False
    """Whether gradients of the agent's loss reach the memory's parameters (it is then an `nn.Module`)."""
    table: Tensor | None = None
    """(rows, size) all features that there are, where they are few; the carry is then (envs,) their row numbers."""
    view_letters: int | None = None
    """How many letters the view of a task has, where that is what the policy sees."""
    belief: Belief = "open-loop"
    """What it reads, where it follows a belief."""

    @abstractmethod
    def start(self, count: int) -> Tensor:
        """The carry at the beginning of episodes of the only task, or of the first: (envs, …)."""

    def begin(self, task: Tensor) -> Tensor:
        """The carry at the beginning of episodes with tasks of these numbers (envs,); 0 where there is one."""
        return self.start(len(task))

    def reset(self, carry: Tensor, done: Tensor, task: Tensor) -> Tensor:
        """The carry with a new beginning where an episode is done (envs,); task: (envs,) of the episodes now."""
        if not bool(done.any()):
            return carry
        rows = done.nonzero().squeeze(1)
        return carry.index_copy(0, rows, self.begin(task[rows]))

    @abstractmethod
    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """The carry after a step, before any reset."""

    @abstractmethod
    def feature(self, carry: Tensor) -> Tensor:
        """(…, size) what the policy sees of a carry, with any leading dimensions."""

    def unrolled(self, carry: Tensor, seen: Transition, done: Tensor, task: Tensor) -> Tensor:
        """(time, envs, size) the features before each step of a rollout, from the carry before the first.

        Tensors of `seen`, `done` and `task` are (time, envs, …). For memories that learn, which may have a faster form.
        """
        result = []
        for step, over in enumerate(done):
            result.append(self.feature(carry))
            shown = Transition(*(None if part is None else part[step] for part in seen))  # type: ignore[arg-type]
            # The step after tells the task of an episode that begins; after the last step nothing is asked.
            carry = self.reset(self.read(carry, shown), over, task[min(step + 1, len(task) - 1)])
        return torch.stack(result)

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:  # noqa: ARG002
        """What it believes of a step that led from a carry to the carry `reached`; nothing by default."""
        return Report()

    def believed(self, carry: Tensor) -> Tensor:
        """(…, states) how probable each state is, of all tasks together; for memories that follow a machine."""
        raise NotImplementedError(f"{type(self).__name__} follows no machine")

    def settled(self, carry: Tensor, summary: Callable[[], Tensor]) -> Tensor:  # noqa: ARG002
        """The carry with which a step begins; `summary`: what is seen now, for memories that decide something."""
        return carry

    def credited(self, rollout: Any, summary: Callable[[Tensor], Tensor]) -> Any:  # noqa: ARG002
        """A rollout with the rewards that the policy learns from; `summary`: of observations."""
        return rollout

    def refresh(self) -> None:  # noqa: B027 - most have nothing to compute again
        """What it looks at has learned."""

    def finish(self) -> None:  # noqa: B027 - most have nothing to say
        """Training is over."""

    def state_dict(self) -> dict[str, Any]:
        """What it has learned."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027 - most learn nothing
        """Go on from there."""

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> Memory:  # noqa: ARG002
        """The same memory for another environment, with tasks over the same symbols; `belief`: another kind."""
        return self


class StateMemory(Memory):
    """The true state of each environment's task, among the states of all tasks. The carry is (envs,) the states."""

    sees_truth = True

    def __init__(self, tasks: TaskSet, device: torch.device | None = None, one_hot: bool = False) -> None:
        """`one_hot`: the policy sees the number of the state, and not the view of the task from there."""
        states = len(tasks.task_of_state)
        table = torch.eye(states)[tasks.seen_as] if one_hot else torch.tensor(tasks.view, dtype=torch.float32)
        self.table: Tensor = table.to(device)
        self.size = int(table.shape[1])
        self.view_letters = None if one_hot else tasks.alphabet.size
        self._tasks, self._one_hot = tasks, one_hot
        self._initials = torch.tensor(tasks.initial, dtype=torch.int64, device=device)
        self._first = torch.tensor(tasks.first[tasks.task_of_state], dtype=torch.int64, device=device)

    @classmethod
    def of(cls, machine: MooreMachine, device: torch.device | None = None) -> StateMemory:
        """Of the only task: its state, one-hot."""
        return cls(TaskSet.of([machine]), device, one_hot=True)

    def start(self, count: int) -> Tensor:
        """All in the first initial state."""
        return self._initials[:1].repeat(count)

    def begin(self, task: Tensor) -> Tensor:
        """The initial states."""
        return self._initials[task]

    def read(self, carry: Tensor, seen: Transition) -> Tensor:  # noqa: ARG002 - the truth needs no memory of its own
        """The state that was reached."""
        assert seen.state is not None
        return seen.state

    def feature(self, carry: Tensor) -> Tensor:
        """The row of the state."""
        return self.table[carry]

    def believed(self, carry: Tensor) -> Tensor:
        """The state, for certain."""
        return torch.nn.functional.one_hot(carry, len(self._first)).float()

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:  # noqa: ARG002
        """The state of each environment's own machine."""
        return Report(
            states=torch.nn.functional.one_hot(reached - self._first[reached], self._tasks.max_states).float()
        )

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> StateMemory:  # noqa: ARG002
        """The same for other tasks."""
        return type(self)(tasks, self.table.device, self._one_hot)
