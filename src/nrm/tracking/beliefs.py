"""Beliefs over the states of the task, which a grounder gives: one step of them, and memories that follow them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.machines import LevelCodec, TaskSet
from nrm.neural import NeuralRewardMachine, ProbabilisticMoore, TaskMachines
from nrm.tracking.memories import Belief, Memory, Report, Transition, reads_rewards

MAX_LISTED = 1 << 25
"""Numbers of the matrices of all listed observations up to which these are kept."""
IMPOSSIBLE = 1e-6
"""Probability up to which a belief counts as calling a potential impossible."""

Floats: TypeAlias = NDArray[np.floating]
Moved: TypeAlias = Callable[[Floats, Tensor], Floats]
"""From beliefs (envs, states) and what a step showed to where it leads them (envs, states)."""


def moved_by_letters(model: NeuralRewardMachine) -> Moved:
    """Shown are the probabilities of letters (envs, letters); of a small machine, from one table."""
    machine = model.machine
    letters = machine.classes if model.distribution.counted else machine.alphabet.size
    small = letters * machine.states**2 <= 1 << 18  # numbers of the table of all moves, up to which it is kept
    if not small or machine.levels.device.type != "cpu":
        return partial(_moved_by_tensors, machine)
    moves = machine.transitions
    if not model.distribution.counted:
        moves = moves[machine.letter_class.long()]
    return partial(_moved_by_table, moves.numpy())


@torch.no_grad()
def _moved_by_tensors(machine: ProbabilisticMoore, belief: Floats, letters: Tensor) -> Floats:
    moved: Floats = machine.step(torch.from_numpy(belief).to(letters.device), letters).cpu().numpy()
    return moved


def _moved_by_table(moves: Floats, belief: Floats, letters: Tensor) -> Floats:
    matrices = (letters.numpy() @ moves.reshape(len(moves), -1)).reshape(-1, *moves.shape[1:])
    moved: Floats = (belief[:, None] @ matrices)[:, 0]
    return moved


def moved_by_rows(model: NeuralRewardMachine, letters: Tensor) -> Moved:
    """Shown are row numbers (envs,) of listed observations, of which the grounder says `letters` (frames, letters)."""
    if len(letters) * model.machine.states**2 > MAX_LISTED:
        moved = moved_by_letters(model)
        return lambda belief, rows: moved(belief, letters[rows])
    matrices = model.machine.step_matrices(letters).detach().cpu().numpy()
    return lambda belief, rows: (belief[:, None] @ matrices[rows.cpu().numpy()])[:, 0]


class BeliefStep:
    """One step of a belief, which is also weighed by the potential where it is filtered."""

    def __init__(self, model: NeuralRewardMachine, belief: Belief, moved: Moved) -> None:
        self._moved, self._filters = moved, belief == "filtered"
        self._shows = np.ascontiguousarray(model.machine.rewards.t().cpu().numpy())
        self._anything = self._shows / self._shows.sum(1, keepdims=True)
        self._codec = LevelCodec(model.machine.levels.cpu().numpy())

    def __call__(self, carry: Tensor, shown: Tensor, reward: Tensor) -> Tensor:
        """(envs, states + 1) from a carry (envs, states + 1, …), what was shown and rewards (envs,)."""
        states = self._shows.shape[1]
        before = carry.cpu().numpy()[:, : states + 1]
        level, after = before[:, states] + reward.cpu().numpy(), np.empty_like(before)
        reached = self._moved(before[:, :states], shown)
        if self._filters:
            nearest = self._codec.nearest(level)
            joint = reached * self._shows[nearest]
            total = joint.sum(1, keepdims=True)
            # Where a belief calls the potential impossible, the grounder is wrong: any state of it.
            reached = np.where(total > IMPOSSIBLE, joint / np.maximum(total, IMPOSSIBLE), self._anything[nearest])
        after[:, :states], after[:, states] = reached, level
        return torch.from_numpy(after).to(carry.device)


class BeliefMemory(Memory):
    """The belief of the neural machine over its states, and the potential of the rewards so far.

    Open loop it follows the paper's equation VRM_net; filtered, it is also weighed by the potential that the rewards
    received so far tell. The carry is (envs, states + 1 + width): the belief, the potential, the grounder's state.
    """

    _seen_as: Tensor | None = None
    """(states, states) the state that each one looks like to the policy, one-hot; None: itself."""

    def __init__(self, model: NeuralRewardMachine, frames: Tensor | None, belief: Belief) -> None:
        """`frames`: all observations where they are listed; they are then read by their row numbers."""
        self.model = model
        self.belief: Belief = belief
        self.size = model.machine.states
        self._frames = frames
        self._prepare()
        self.refresh()

    def _prepare(self) -> None:
        """What stays as it is while the grounder learns."""
        machine = self.model.machine
        level = torch.full((1, 1), machine.initial_level, device=machine.levels.device)
        state = self.model.reading.start(1).detach().to(level.device)
        self._first = torch.cat([self.model.initial_belief(1).detach(), level, state], 1)
        self._own = self.size + 1  # where the grounder's state begins
        self._step = BeliefStep(self.model, self.belief, moved_by_letters(self.model))

    @torch.no_grad()
    def refresh(self) -> None:
        """After the grounder has learned: what it makes of all known frames is computed once."""
        self._reading = self.model.reading_on(self._frames)
        self._listed = self._step_by_rows()

    def _step_by_rows(self) -> BeliefStep | None:
        """From row numbers, where what the grounder says of each is known beforehand."""
        said = self._reading.foretold
        if said is None:
            return None
        return BeliefStep(self.model, self.belief, moved_by_rows(self.model, self._letters(said)))

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
        return self._reading.read(self._reading.encode(observation), carry[:, self._own :])

    def _letters(self, symbols: Tensor) -> Tensor:
        """(…, letters) what the machine moves by: as the grounder says, or the most probable letter for certain."""
        said = self.model.distribution
        read = said.certain(symbols) if self.belief == "argmax" else said.letter_probs(symbols)
        return read.to(self.model.machine.dtype)

    def feature(self, carry: Tensor) -> Tensor:
        """The belief."""
        belief = carry[..., : self.size]
        return belief if self._seen_as is None else belief @ self._seen_as.to(belief)

    def states(self, carry: Tensor) -> Tensor:
        """(…, states) the belief."""
        return carry[..., : self.size]

    def believed(self, carry: Tensor) -> Tensor:
        """The belief."""
        return self.states(carry)

    def level(self, carry: Tensor) -> Tensor:
        """(…) the potential that the rewards so far lead to."""
        return carry[..., self.size]

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> BeliefMemory:
        """The same model on other frames."""
        made = BeliefMemory(self.model, frames, belief or self.belief)
        if (tasks.seen_as != np.arange(len(tasks.seen_as))).any():  # rounds, which begin again
            made._seen_as = torch.eye(self.size)[tasks.seen_as]
        return made


class TaskBeliefMemory(BeliefMemory):
    """The view of a task under the belief over its machine's states (the expectation of the view).

    Where no rewards are read, the view is that of the states where the task is not decided yet: who wrongly believes
    it done looks for what may still be missing. The belief itself stays as it is. The carry is (envs, …): the view, the
    belief, the potential, the task's number, the grounder's state.
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
        union = self._tasks.union
        # Where nothing that comes can change any more whether the task is done, it is decided.
        undecided = torch.tensor(~(union.dead | (union.accepting & union.absorbing)))
        self._undecided = torch.nn.functional.pad(undecided, (0, 1)).to(device)
        self._states = self._tasks.max_states
        self._own = self.size + self._states + 2

    def _step_by_rows(self) -> None:
        """None: moves are those of each environment's own task."""

    def start(self, count: int) -> Tensor:
        """All at the beginning of the first task."""
        return self.begin(self._machines.initials.new_zeros(count))

    def begin(self, task: Tensor) -> Tensor:
        """Certain of the initial states of tasks with these numbers (envs,)."""
        belief = self._machines.start_of(task, self._states)
        level = torch.full((len(task),), self._machines.initial_level, device=task.device)
        return self._carry(belief, level, task, self.model.reading.start(len(task)).detach().to(task.device))

    def _carry(self, belief: Tensor, level: Tensor, task: Tensor, own: Tensor) -> Tensor:
        matters = belief if reads_rewards(self.belief) else self._where_undecided(belief, task)
        view = self._machines.expected(matters, task, self._view)
        return torch.cat([view, belief, level.unsqueeze(1), task.to(view.dtype).unsqueeze(1), own], 1)

    def _where_undecided(self, belief: Tensor, task: Tensor) -> Tensor:
        """The belief given that the task is not decided; as it is where nothing speaks for that."""
        undecided = belief * self._undecided[self._machines.rows(task, self._states)]
        total, least = undecided.sum(1, keepdim=True), 1e-30
        return torch.where(total > least, undecided / total.clamp(min=least), belief)

    @torch.no_grad()
    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        """One step of the recursion, each environment by its own machine."""
        task = self.task(carry)
        symbols, own = self._said(carry, seen.observation)
        belief = self._machines.step_of(task, self.states(carry), self._letters(symbols))
        level = self.level(carry) + seen.reward
        if reads_rewards(self.belief):
            belief = self._weighed(belief, level, task)
        return self._carry(belief, level, task, own)

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
        return carry[..., self.size : self._own - 2]

    def believed(self, carry: Tensor) -> Tensor:
        """The belief, among the states of all tasks; padding is left out."""
        rows = self._machines.rows(self.task(carry).flatten(), self._states).view(*carry.shape[:-1], -1)
        every = carry.new_zeros(*carry.shape[:-1], len(self._tasks.task_of_state) + 1)
        return every.scatter_add_(-1, rows, self.states(carry))[..., :-1]

    def level(self, carry: Tensor) -> Tensor:
        """(…) the potential that the rewards so far lead to."""
        return carry[..., self._own - 2]

    def task(self, carry: Tensor) -> Tensor:
        """(…) the number of the task."""
        return carry[..., self._own - 1].long()

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> TaskBeliefMemory:
        """The same grounder for other tasks."""
        model = NeuralRewardMachine(self.model.grounder, tasks, self.model.emission).eval().to(self._view.device)
        return TaskBeliefMemory(model, frames, belief or self.belief)


def belief_memory(model: NeuralRewardMachine, frames: Tensor | None, belief: Belief) -> BeliefMemory:
    """What follows a model: the states of its only task, or the views of many."""
    kind = TaskBeliefMemory if isinstance(model.machine, TaskMachines) else BeliefMemory
    return kind(model, frames, belief)
