"""The machines of many tasks as one module: every episode has one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nrm.errors import EpisodeError
from nrm.machines import MooreMachine, TaskSet, pool_bytes
from nrm.neural.emission import ClassCounting
from nrm.neural.episodes import EpisodeBatch, gathered
from nrm.neural.moore import COUNTED, ProbabilisticMoore
from nrm.neural.recursion import SparseChain


class TaskMachines(ProbabilisticMoore):
    """The machines of a task set, each known exactly; of one task alone, see `NeuralRewardMachine.of_task`.

    Machines differ in size; those of a batch are padded to the largest of them, with states that nothing leads to.
    Beliefs are over the states of an episode's own machine, so that the size of the set costs nothing.
    """

    tasks: TaskSet
    moves: Tensor
    level_of_state: Tensor
    first: Tensor
    sizes: Tensor
    initials: Tensor

    def __init__(self, tasks: TaskSet, dtype: torch.dtype = torch.float32, counted: bool = False) -> None:
        """`counted`: steps are read as probabilities of independent propositions, not of letters."""
        nn.Module.__init__(self)
        self.tasks = tasks
        self.alphabet = tasks.alphabet
        self._dtype = dtype
        self.states = tasks.max_states
        propositions = len(tasks.alphabet.symbols)
        self.countings: nn.ModuleList | None = None
        """For each task how its own letter classes are counted from propositions, where these are several."""
        self.counting = None
        if counted and (tasks.alphabet.propositions or 0) > COUNTED:
            self.countings = nn.ModuleList(
                ClassCounting(machine.letters.function(propositions), machine.classes) for machine in tasks.machines
            )
            most = max(machine.classes for machine in tasks.machines)
            # Further columns have no probability.
            padded = [np.pad(one.columns, ((0, 0), (0, most - one.classes))) for one in tasks.machines]
            local = np.concatenate(padded)
        else:
            local = tasks.union.transitions - tasks.first[tasks.task_of_state][:, None]
        # One row more than there are states: that of padding, which stays where it is and shows no potential.
        buffers = {
            "levels": torch.tensor(tasks.levels),
            "moves": nn.functional.pad(torch.tensor(local, dtype=torch.int64), (0, 0, 0, 1)),
            "level_of_state": nn.functional.pad(
                torch.tensor(tasks.level_of_state, dtype=torch.int64), (0, 1), value=-1
            ),
            "first": torch.tensor(tasks.first, dtype=torch.int64),
            "sizes": torch.tensor([machine.states for machine in tasks.machines]),
            "initials": torch.tensor(tasks.initial - tasks.first, dtype=torch.int64),
        }
        for name, values in buffers.items():
            self.register_buffer(name, values, persistent=False)

    @property
    def moved_by_propositions(self) -> Callable[[Tensor], Tensor] | None:
        """Propositions as they are, where every task counts its own letter classes (`moved_by`)."""
        return None if self.countings is None else nn.Identity()

    @property
    def dtype(self) -> torch.dtype:
        """The type of its numbers."""
        return self._dtype

    @property
    def initial_level(self) -> float:
        """The potential at which all tasks begin."""
        return float(self.tasks.initial_level)

    def rows(self, numbers: Tensor, states: int) -> Tensor:
        """(n, states) the rows of `moves` that tasks with these numbers (n,) have, padded."""
        place = torch.arange(states, device=numbers.device)
        real = place < self.sizes[numbers][:, None]
        return torch.where(real, self.first[numbers][:, None] + place, len(self.moves) - 1)

    def step_of(self, numbers: Tensor, belief: Tensor, letters: Tensor) -> Tensor:
        """(n, states) beliefs of tasks (n,) after letters (n, letters); only states believed in are looked at."""
        letters = self.moved_by(letters, numbers)
        row, state = belief.nonzero(as_tuple=True)
        after = self.moves[self.first[numbers[row]] + state] + (row * belief.shape[1]).unsqueeze(1)
        moved = belief[row, state].unsqueeze(1) * letters[row]
        reached = torch.zeros_like(belief).flatten()
        return reached.scatter_add_(0, after.flatten(), moved.flatten()).view_as(belief)

    def expected(self, belief: Tensor, numbers: Tensor, table: Tensor) -> Tensor:
        """(n, width) the expectation of `table` (all states, width) under beliefs (n, states) of tasks (n,)."""
        row, state = belief.nonzero(as_tuple=True)
        weighed = belief[row, state].unsqueeze(1) * table[self.first[numbers[row]] + state]
        return belief.new_zeros(len(belief), table.shape[1]).index_add_(0, row, weighed)

    def targets(self, batch: EpisodeBatch | None = None) -> Tensor:
        """(batch, states, letters) where each letter leads each state of an episode's machine."""
        return self.moves[self._rows(batch)]

    def chain(self, letters: Tensor, rows: Tensor, batch: EpisodeBatch, observed: bool) -> SparseChain:
        """The steps of a batch; see `ProbabilisticMoore.chain`."""
        said = self.moved_by(gathered(letters, rows), self._numbers(batch)).transpose(0, 1)
        return SparseChain(self.targets(batch), said, self._shown(batch) if observed else None, batch.mask.t())

    def cells(self, batch: EpisodeBatch) -> int:
        """How many numbers the chain of a batch has, about."""
        return batch.seen.numel() * self.states_of(batch)

    def _shown(self, batch: EpisodeBatch) -> Tensor:
        """(time, batch, states) how probable each state makes what is known of the potential."""
        shown = batch.weighed(self.possible_levels(batch)).transpose(1, 2).to(self.dtype)
        return shown[torch.arange(len(shown), device=shown.device), batch.levels.t()]

    def moved_by(self, said: Tensor, numbers: Tensor) -> Tensor:
        """(n, …, columns of `moves`) from what is said of n rows (n, …, letters or propositions), by tasks (n,)."""
        if self.countings is None:
            return said
        rows = []
        order = []
        for number in torch.unique(numbers).tolist():
            mine = torch.nonzero(numbers == number)[:, 0]
            counted = self.countings[number](said[mine])
            rows.append(nn.functional.pad(counted, (0, self.moves.shape[1] - counted.shape[-1])))
            order.append(mine)
        return torch.cat(rows)[torch.argsort(torch.cat(order))].to(self.dtype)

    def starts(self, batch: EpisodeBatch) -> Tensor:
        """(batch, states) certain of each task's initial state."""
        return self.start_of(self._numbers(batch), self.states_of(batch))

    def start_of(self, numbers: Tensor, states: int) -> Tensor:
        """(n, states) certain of the initial states of tasks with these numbers (n,)."""
        return nn.functional.one_hot(self.initials[numbers], states).to(self.dtype)

    def possible_levels(self, batch: EpisodeBatch) -> Tensor:
        """(batch, states, potentials) 1 where a state can output a potential."""
        shown = self.level_of_state[self._rows(batch)]
        return (shown.unsqueeze(-1) == torch.arange(len(self.levels), device=shown.device)).float()

    def name_of(self, batch: EpisodeBatch, episode: int) -> str:
        """How messages speak of the machine of an episode."""
        return f"the task {self.tasks.names[int(self._numbers(batch)[episode])]}"

    def known(self) -> TaskSet:
        """The tasks."""
        return self.tasks

    def of_task(self, number: int) -> MooreMachine:
        """The machine of a task."""
        return self.tasks.machines[number]

    def described(self) -> dict[str, Any]:
        """The task set, as files of torch hold bytes."""
        return {"tasks": torch.frombuffer(bytearray(pool_bytes(self.tasks)), dtype=torch.uint8)}

    def states_of(self, batch: EpisodeBatch) -> int:
        """The number of states of the largest machine of a batch."""
        return int(self.sizes[self._numbers(batch)].max())

    def _rows(self, batch: EpisodeBatch | None) -> Tensor:
        assert batch is not None
        return self.rows(self._numbers(batch), self.states_of(batch))

    def _numbers(self, batch: EpisodeBatch) -> Tensor:
        if bool((batch.tasks < 0).all()):
            give = "buffer.add(…, task=number), or take one: model.of_task(number)"
            raise EpisodeError(f"the model has many tasks; episodes must say which they are of: {give}")
        wrong = (batch.tasks < 0) | (batch.tasks >= len(self.sizes))
        if bool(wrong.any()):
            episode = int(wrong.nonzero()[0])
            number, last = int(batch.tasks[episode]), len(self.sizes) - 1
            raise EpisodeError(f"episode {episode} is of task {number}; the set has tasks 0 to {last}")
        return batch.tasks

    def extra_repr(self) -> str:
        """What `print(module)` shows."""
        return f"{len(self.sizes)} tasks, {self.states} states at most, {len(self.levels)} potentials"
