"""What an agent remembers of a task, as a pure function on an explicit state, the *carry*.

`start` begins episodes, `read` takes in what a step showed, `reset` begins anew where an episode ended, and `feature`
is what the policy sees (paper, "Comparisons").
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from nrm.machines import MooreMachine, TaskSet
from nrm.neural import NeuralRewardMachine
from nrm.tracking.belief_step import Step, belief_step, listed_step

Belief = Literal["conditioned", "open", "crisp"]
"""`conditioned`: weighed by the potential that the rewards received so far tell. `open`: from the observations alone,
as in the paper. `crisp`: likewise, but each step is read as its most probable letter, so that small doubts do not add
up over a long episode. A machine that is told its true state knows better than any."""


def reads_rewards(belief: Belief | None) -> bool:
    """Whether a kind of belief takes rewards as evidence; so does a memory as it is, where none is named."""
    return belief in (None, "conditioned")


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
        """The same memory for another environment of the same task, whose listed observations are `frames`.

        `belief`: another kind, if given. Only a `conditioned` memory may take rewards as evidence.
        """


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


def read_symbols(model: NeuralRewardMachine, symbols: Tensor, belief: Belief) -> Tensor:
    """What a machine moves by, from what the grounder says: as it is, or the most probable letter for certain."""
    if belief == "crisp" and model.counts:  # the class of the best letter, which need not be the best class
        return model.letter_probs((symbols > 0.5).to(symbols.dtype))
    return read_as(model.letter_probs(symbols), belief)


def read_as(letters: Tensor, belief: Belief) -> Tensor:
    """(…, letters) the probabilities that a belief takes a step for: as the grounder says, or the best for certain."""
    if belief != "crisp":
        return letters
    return torch.nn.functional.one_hot(letters.argmax(-1), letters.shape[-1]).to(letters.dtype)


class MachineMemory:
    """The true state of the machine, one-hot."""

    sees_truth = True
    learns = False

    def __init__(self, machine: MooreMachine, device: torch.device | None = None) -> None:
        self.size = machine.states
        self.table: Tensor | None = torch.eye(machine.states, device=device)
        self._initial = machine.initial

    def start(self, count: int) -> Tensor:
        """All in the initial state: (envs,)."""
        assert self.table is not None
        return torch.full((count,), self._initial, device=self.table.device)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:  # noqa: ARG002 - the truth needs no memory of its own
        """The state that was reached."""
        assert seen.state is not None
        return seen.state

    def feature(self, carry: Tensor) -> Tensor:
        """The state, one-hot."""
        assert self.table is not None
        return self.table[carry]

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> MachineMemory:  # noqa: ARG002 - it is told
        """Itself."""
        return self


class BeliefMemory:
    """The belief of the neural machine over its states, and the potential of the rewards so far.

    Open loop it follows the paper's equation VRM_net; conditioned, it is also weighed by the potential that the rewards
    received so far tell. The carry is (envs, states + 1 + width): the belief, the potential, and the state of a
    recurrent grounder, whose width is 0 for any other.
    """

    sees_truth = False
    learns = False
    table: Tensor | None = None

    def __init__(self, model: NeuralRewardMachine, frames: Tensor | None, belief: Belief) -> None:
        """`frames`: all observations where they are listed; they are then read by their row numbers."""
        self.model = model
        self.size = model.machine.states
        self.belief: Belief = belief
        self._frames = frames
        level = torch.full((1, 1), model.machine.initial_level, device=model.machine.levels.device)
        columns = [model.initial_belief(1).detach(), level]
        if model.recurrence is not None:
            columns.append(model.recurrence.start(1).detach())
        self._first = torch.cat(columns, 1)
        self._step = belief_step(model, belief)
        self._listed: Step | None = None
        self._encoded: Tensor | None = None
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Look at the grounder anew: after it has learned, the moves of all known frames are computed once.

        Of a recurrent grounder, for which moves depend on what came before, only what it makes of each frame alone.
        """
        if self._frames is None:
            return
        if self.model.recurrence is None:
            letters = read_symbols(self.model, self.model.ground(self._frames, check=False), self.belief)
            self._listed = listed_step(self.model, self.belief, letters)
        else:
            self._encoded = self.model.recurrence.encode(self._frames)

    def start(self, count: int) -> Tensor:
        """Certain of the initial state."""
        return self._first.repeat(count, 1)

    @torch.no_grad()
    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """One step of the recursion."""
        if self._listed is not None:
            return self._listed(carry, seen.observation, seen.reward)
        symbols, after = self._said(carry, seen.observation)
        letters = read_symbols(self.model, symbols, self.belief)
        reached = self._step(carry, letters, seen.reward)
        return reached if after is None else torch.cat([reached, after], 1)

    @torch.no_grad()
    def letters(self, carry: Tensor, observation: Tensor) -> Tensor:
        """(envs, letters) how probable each is, where a step from a carry shows an observation or its row number."""
        listed = self._frames is not None and self._encoded is None
        shown = self._frames[observation] if listed and self._frames is not None else observation
        return self.model.letter_probs(self._said(carry, shown)[0])

    def _said(self, carry: Tensor, observation: Tensor) -> tuple[Tensor, Tensor | None]:
        """(envs, symbols) what the grounder says about a step, and the state (envs, width) of a recurrent one after."""
        grounder = self.model.recurrence
        if grounder is None:
            return self.model.ground(observation, check=False), None
        encoded = grounder.encode(observation) if self._encoded is None else self._encoded[observation]
        return grounder.read(encoded, carry[:, self.size + 1 :])

    def feature(self, carry: Tensor) -> Tensor:
        """The belief."""
        return carry[..., : self.size]

    def level(self, carry: Tensor) -> Tensor:
        """(…) the potential that the rewards so far lead to."""
        return carry[..., self.size]

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> BeliefMemory:
        """The same model on other frames."""
        return BeliefMemory(self.model, frames, belief or self.belief)
