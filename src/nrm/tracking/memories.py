"""What an agent remembers of a task, as a pure function on an explicit state, the *carry*.

`start` begins episodes, `read` takes in what a step showed, `reset` begins anew where an episode ended, and `feature`
is what the policy sees (paper, "Comparisons").
"""

from __future__ import annotations

import warnings
from typing import NamedTuple, Protocol, cast, get_args, runtime_checkable

import torch
from torch import Tensor

from nrm.errors import EnvError, LimitError, NrmWarning, listing, suggestion
from nrm.machines import MooreMachine, TaskSet, amount_of_letters, task_view, view_width
from nrm.neural import NeuralRewardMachine
from nrm.tracking.belief_step import Belief, Step, belief_step, listed_step

MAX_WIDTH = 20_000
"""Numbers of a view past which a policy should see the state instead."""

_OLD_BELIEFS: dict[str, Belief] = {"conditioned": "filtered", "open": "open-loop", "crisp": "argmax"}


def as_belief(name: str) -> Belief:
    """A kind of belief by its name; those of the last release are read too."""
    if name in _OLD_BELIEFS:
        warnings.warn(f"the belief '{name}' is called '{_OLD_BELIEFS[name]}' now", NrmWarning, stacklevel=3)
        return _OLD_BELIEFS[name]
    known = get_args(Belief)
    if name not in known:
        raise EnvError(f"unknown belief {name!r}{suggestion(str(name), known)} (beliefs: {listing(known)})")
    return cast(Belief, name)


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
    """(envs,) the true letter that was read, where somebody tells it: for memories that are told the symbols."""


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


class Memory(Protocol):
    """A memory for N environments at once."""

    size: int
    """Width of the feature."""
    sees_truth: bool
    """Whether `read` is given the machine's true state."""
    learns: bool
    """Whether gradients of the agent's loss reach the memory's parameters (it is then an `nn.Module`)."""
    table: Tensor | None
    """(rows, size) all features that there are, where they are few; the carry is then (envs,) their row numbers."""

    def start(self, count: int) -> Tensor:
        """The carry at the beginning of episodes: (envs, …)."""

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """The carry after a step, before any reset."""

    def feature(self, carry: Tensor) -> Tensor:
        """(…, size) what the policy sees of a carry, with any leading dimensions."""

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> Memory:
        """The same memory for another environment of the task; `belief`: another kind."""


@runtime_checkable
class ReportingMemory(Protocol):
    """A memory that follows states."""

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:
        """What it believes of a step that led from a carry to the carry `reached`."""


def report(memory: Memory, carry: Tensor, seen: Transition, reached: Tensor) -> Report:
    """What any memory believes of a step."""
    return memory.report(carry, seen, reached) if isinstance(memory, ReportingMemory) else Report()


@runtime_checkable
class TaskMemory(Memory, Protocol):
    """A memory for environments that have another task with every episode."""

    def begin(self, task: Tensor) -> Tensor:
        """The carry at the beginning of episodes with tasks of these numbers (envs,)."""

    def with_tasks(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> TaskMemory:
        """The same memory for an env with other tasks over the same symbols; `belief`: another kind, if given."""


def begin(memory: Memory, count: int, task: Tensor | None = None) -> Tensor:
    """The carry at the beginning of episodes; task: (envs,) the numbers of their tasks, where there are many."""
    return memory.start(count) if task is None or not isinstance(memory, TaskMemory) else memory.begin(task)


def reset(memory: Memory, carry: Tensor, done: Tensor, task: Tensor | None = None) -> Tensor:
    """The carry with a new beginning where an episode is done (envs,); task: as in `begin`, of the episodes now."""
    if not bool(done.any()):
        return carry
    if task is not None and isinstance(memory, TaskMemory):
        rows = done.nonzero().squeeze(1)
        return carry.index_copy(0, rows, memory.begin(task[rows]))
    shape = (-1,) + (1,) * (carry.dim() - 1)
    return torch.where(done.view(shape), memory.start(1), carry)


class StateMemory:
    """The true state of the machine, seen through a table: one-hot. The carry is (envs,) the states."""

    sees_truth = True
    learns = False

    def __init__(self, table: Tensor, initial: int) -> None:
        """`table`: (states, size) what the policy sees in each state."""
        self.table: Tensor | None = table
        self._table = table
        self.size = int(table.shape[1])
        self._initial = initial

    def start(self, count: int) -> Tensor:
        """All in the initial state."""
        return torch.full((count,), self._initial, device=self._table.device)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:  # noqa: ARG002 - the truth needs no memory of its own
        """The state that was reached."""
        assert seen.state is not None
        return seen.state

    def feature(self, carry: Tensor) -> Tensor:
        """The row of the state."""
        return self._table[carry]

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:  # noqa: ARG002
        """The state."""
        return Report(states=self.feature(reached))

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> StateMemory:  # noqa: ARG002 - it is told
        """Itself."""
        return self


class MachineMemory(StateMemory):
    """The true state of one machine, one-hot."""

    def __init__(self, machine: MooreMachine, device: torch.device | None = None) -> None:
        super().__init__(torch.eye(machine.states, device=device), machine.initial)


class BeliefMemory:
    """The belief of the neural machine over its states, and the potential of the rewards so far.

    Open loop it follows the paper's equation VRM_net; filtered, it is also weighed by the potential that the rewards
    received so far tell. The carry is (envs, states + 1 + width): the belief, the potential, the grounder's state.
    """

    sees_truth = False
    learns = False
    table: Tensor | None = None

    def __init__(self, model: NeuralRewardMachine, frames: Tensor | None, belief: Belief) -> None:
        """`frames`: all observations where they are listed; they are then read by their row numbers."""
        self.model = model
        self.belief: Belief = belief
        self.size = model.machine.states
        self._frames = frames
        self._encoded: Tensor | None = None
        self._prepare()
        self.refresh()

    def _prepare(self) -> None:
        """What stays as it is while the grounder learns."""
        machine = self.model.machine
        level = torch.full((1, 1), machine.initial_level, device=machine.levels.device)
        state = self.model.reading.start(1).detach().to(level.device)
        self._first = torch.cat([self.model.initial_belief(1).detach(), level, state], 1)
        self._step = belief_step(self.model, self.belief)
        self._listed: Step | None = None

    @torch.no_grad()
    def refresh(self) -> None:
        """Look at the grounder anew: after it has learned, what it makes of all known frames is computed once."""
        if self._frames is not None:
            self._encoded = self.model.reading.encode(self._frames)
            self._list()

    def _list(self) -> None:
        """The moves of all known frames, where these do not depend on what came before."""
        if self._encoded is not None and not self.model.recurrent:
            self._listed = listed_step(self.model, self.belief, self._letters(self._encoded))

    def follow(self, belief: Belief) -> None:
        """Go on with another kind of belief."""
        if belief != self.belief:
            self.belief = belief
            self._prepare()
            self.refresh()

    def start(self, count: int) -> Tensor:
        """Certain of the initial state."""
        return self._first.repeat(count, 1)

    @torch.no_grad()
    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """One step of the recursion."""
        if self._listed is not None:
            return self._listed(carry, seen.observation, seen.reward)
        symbols, after = self._said(carry, seen.observation)
        return torch.cat([self._step(carry, self._letters(symbols), seen.reward), after], 1)

    @torch.no_grad()
    def letters(self, carry: Tensor, observation: Tensor) -> Tensor:
        """(envs, letters) how probable each is, where a step from a carry shows an observation or its row number."""
        return self.model.letter_probs(self._said(carry, observation)[0])

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:
        """What the grounder says, and the belief."""
        return Report(letters=self.letters(carry, seen.observation), states=self.states(reached))

    def _said(self, carry: Tensor, observation: Tensor) -> tuple[Tensor, Tensor]:
        """(envs, symbols) what the grounder says about a step, and its state (envs, width) after."""
        reading = self.model.reading
        encoded = reading.encode(observation) if self._encoded is None else self._encoded[observation]
        return reading.read(encoded, carry[:, self.size + 1 :])

    def _letters(self, symbols: Tensor) -> Tensor:
        """(…, letters) what the machine moves by: as the grounder says, or the most probable letter for certain."""
        said = self.model.distribution
        read = said.certain(symbols) if self.belief == "argmax" else said.letter_probs(symbols)
        return read.to(self.model.machine.dtype)

    def feature(self, carry: Tensor) -> Tensor:
        """The belief."""
        return carry[..., : self.size]

    def states(self, carry: Tensor) -> Tensor:
        """(…, states) the belief."""
        return carry[..., : self.size]

    def level(self, carry: Tensor) -> Tensor:
        """(…) the potential that the rewards so far lead to."""
        return carry[..., self.size]

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> BeliefMemory:
        """The same model on other frames."""
        return type(self)(self.model, frames, belief or self.belief)


class ViewedMemory:
    """A memory of the states of one machine, whose policy sees the view from there; of a belief, its expectation."""

    learns = False

    def __init__(self, memory: Memory, machine: MooreMachine) -> None:
        """`memory`: its feature is a belief over the states of `machine`."""
        width = view_width(machine.alphabet)
        if width > MAX_WIDTH:
            letters = amount_of_letters(machine.alphabet)
            raise LimitError(
                f"the view of a task over {letters} letters has {width:,} numbers, more than the limit of "
                f"{MAX_WIDTH:,}; let the policy see the state: --network.view state"
            )
        self.memory = memory
        self.size = width
        self.view_letters = machine.alphabet.size
        self.sees_truth = memory.sees_truth
        self._machine = machine
        self._view = torch.tensor(task_view(machine), dtype=torch.float32, device=memory.start(1).device)
        self.table = None if memory.table is None else memory.table @ self._view

    def start(self, count: int) -> Tensor:
        """The other memory's beginning."""
        return self.memory.start(count)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """What the other memory makes of a step."""
        return self.memory.read(carry, seen)

    def feature(self, carry: Tensor) -> Tensor:
        """(…, width) the view from there."""
        return self.memory.feature(carry) @ self._view if self.table is None else self.table[carry]

    def report(self, carry: Tensor, seen: Transition, reached: Tensor) -> Report:
        """What the other memory believes."""
        return report(self.memory, carry, seen, reached)

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> ViewedMemory:
        """The same on other frames."""
        return ViewedMemory(self.memory.on(frames, belief), self._machine)
