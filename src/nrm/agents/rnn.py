"""RNN: a recurrent network that follows no machine. It is given no symbols, and of many tasks the whole of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from nrm.agents.methods import METHODS, Method, Prepared
from nrm.envs import BatchedEnv
from nrm.machines import TaskSet
from nrm.settings import Checked
from nrm.tracking import Belief, Memory, Transition


@dataclass(frozen=True)
class RecurrentConfig(Checked):
    """Settings of the LSTM."""

    section = "recurrent."

    size: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 50
    """Units of each of the two layers."""


class RecurrentMemory(nn.Module, Memory):
    """The hidden state of an LSTM that reads features of observations. The carry is (envs, 2, layers, size)."""

    learns = True

    def __init__(self, features: int, config: RecurrentConfig) -> None:
        super().__init__()
        self.size = config.size
        self.lstm = nn.LSTM(features, config.size, num_layers=2)  # as in the paper

    def start(self, count: int) -> Tensor:
        return next(self.parameters()).new_zeros(count, 2, self.lstm.num_layers, self.size)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        hidden, cell = carry.permute(1, 2, 0, 3).contiguous()
        assert seen.features is not None
        _, (hidden, cell) = self.lstm(seen.features[None], (hidden, cell))
        return torch.stack([hidden, cell]).permute(2, 0, 1, 3)

    def unrolled(self, carry: Tensor, seen: Transition, done: Tensor, task: Tensor) -> Tensor:  # noqa: ARG002
        """(time, envs, size) the features before each step of a rollout, in one call of the LSTM.

        What follows the end of an episode is a row of its own, beside the others.
        """
        assert seen.features is not None
        time, envs = done.shape
        ended, which = done[:-1].nonzero().unbind(1)
        numbers, times = (torch.arange(count, device=done.device) for count in (envs, time))
        begun = torch.cat([torch.zeros_like(numbers), ended + 1])
        rows = torch.cat([numbers, which])
        # (time, rows) the step of the rollout that is the n-th of a row; past its end anything will do.
        steps = (begun + times[:, None]).clamp(max=time - 1)
        first = torch.cat([carry, self.start(len(which))])
        hidden, cell = first.permute(1, 2, 0, 3).contiguous()
        read, _ = self.lstm(seen.features[steps, rows], (hidden, cell))
        before = torch.cat([self.feature(first)[None], read[:-1]])
        # The row of each step of each environment: that of the last beginning up to it.
        row = numbers.repeat(time, 1)
        since = torch.zeros_like(row)
        for number, (start, env) in enumerate(zip((ended + 1).tolist(), which.tolist(), strict=True), envs):
            row[start:, env], since[start:, env] = number, start
        return before[times[:, None] - since, row]

    def feature(self, carry: Tensor) -> Tensor:
        return carry[..., 0, -1, :]


WIDTH = 64
"""Numbers that a state has beside its view."""


class TaskGraphs(nn.Module):
    """The machines of a pool of tasks as one graph, of which the part of some tasks is a range of states and moves."""

    views: Tensor
    """(states, features) what is seen from each state, and whether it accepts."""
    moves: Tensor
    """(moves, 2) the states of each move to another state, task by task."""
    labels: Tensor
    """(moves, columns) the letters that make it."""
    begin: Tensor
    """(tasks,) the initial states, by their numbers in their own machines."""
    rounds: Tensor
    """(tasks,) the most steps that any state is away from acceptance."""
    states_of: Tensor
    """(2, tasks) the first state of each task, and how many there are."""
    moves_of: Tensor
    """(2, tasks) likewise its moves."""

    def __init__(self, tasks: TaskSet) -> None:
        super().__init__()
        found = [machine.moves.leaving() for machine in tasks.machines]
        counts = np.array([len(labels) for _, labels in found])
        steps = [int(machine.distance_to_acceptance.max(initial=0)) for machine in tasks.machines]
        buffers = {
            "views": np.concatenate([tasks.view, tasks.union.accepting[:, None]], 1).astype(np.float32),
            "moves": np.concatenate([pairs + first for (pairs, _), first in zip(found, tasks.first, strict=True)]),
            "labels": np.concatenate([labels for _, labels in found]),
            "begin": tasks.initial - tasks.first,
            "rounds": np.array(steps),
            "states_of": np.stack([tasks.first, [machine.states for machine in tasks.machines]]),
            "moves_of": np.stack([counts.cumsum() - counts, counts]),
        }
        for name, values in buffers.items():
            numbers = values.astype(np.int64) if values.dtype.kind == "i" else values
            self.register_buffer(name, torch.from_numpy(numbers), persistent=False)


class GraphEncoder(nn.Module):
    """What each state of a task leads to, in numbers: a gated graph network (Li et al., 2016).

    In a round a state hears, along each of its moves, which letters make it and what is known where it leads. A task
    has as many rounds as its states are steps away from acceptance, whichever others are asked for.
    """

    def __init__(self, tasks: TaskGraphs) -> None:
        super().__init__()
        features, columns = tasks.views.shape[1], tasks.labels.shape[1]
        self.width = features + WIDTH
        self.seen = nn.Linear(features, WIDTH)
        self.label = nn.Linear(columns, WIDTH)
        self.after = nn.Linear(WIDTH, WIDTH, bias=False)
        self.cell = nn.GRUCell(WIDTH, WIDTH)

    def forward(self, graphs: TaskGraphs, tasks: Tensor) -> tuple[Tensor, Tensor]:
        """(states, width) the view from each state of some tasks (n,) and what it leads to; (n,) their first rows."""
        (begins, sizes), (first, moves) = graphs.states_of[:, tasks], graphs.moves_of[:, tasks]
        views = graphs.views[ranges(begins, sizes)]
        rows, chosen = sizes.cumsum(0) - sizes, ranges(first, moves)
        source, target = (graphs.moves[chosen] - (begins - rows).repeat_interleave(moves)[:, None]).unbind(1)
        said = self.label(graphs.labels[chosen].to(views.dtype))
        known, ways = self.seen(views).tanh(), torch.bincount(source, minlength=len(views)).clamp(min=1)[:, None]
        rounds = graphs.rounds[tasks]
        left = rounds.repeat_interleave(sizes)[:, None]
        for number in range(int(rounds.max())):
            messages = (said + self.after(known).index_select(0, target)).relu()
            heard = torch.zeros_like(known).index_add(0, source, messages) / ways
            known = torch.where(number < left, self.cell(heard, known), known)
        return torch.cat([views, known], 1), rows


def ranges(first: Tensor, sizes: Tensor) -> Tensor:
    """The numbers of ranges, each from its first on, one range after the other."""
    before = sizes.cumsum(0) - sizes
    return (first - before).repeat_interleave(sizes) + torch.arange(int(sizes.sum()), device=first.device)


class Known(NamedTuple):
    """What is known of the tasks (…) of some environments."""

    table: Tensor
    """(rows, width) what is known of states."""
    first: Tensor
    """(…) the row of the first state of each environment's task."""
    begin: Tensor
    """(…, width) what is known of its initial state."""


class TaskRecurrentMemory(nn.Module, Memory):
    """An LSTM that reads observations and the task. It follows no machine.

    A network that learns with the policy describes the states of tasks. Beside the initial state the policy sees a mean
    over all states, weighed by the hidden state. The carry is (envs, …): the LSTM's, flat, and the task's number.
    """

    learns = True

    def __init__(self, memory: RecurrentMemory, encoder: GraphEncoder, query: nn.Linear, tasks: TaskSet) -> None:
        """`memory`: it reads what is known of the initial state beside features."""
        super().__init__()
        self.memory, self.encoder, self.query = memory, encoder, query
        self.graphs = TaskGraphs(tasks).to(query.weight.device)
        self.size = memory.size + 2 * encoder.width
        self._tasks = tasks
        self._shape = memory.start(1).shape[1:]
        self.refresh()

    def refresh(self) -> None:
        """The networks have changed: tasks are looked at anew when they are asked for."""
        self._known = torch.zeros(len(self.graphs.views), self.encoder.width, device=self.graphs.views.device)
        self._fresh = torch.zeros(len(self._tasks), dtype=torch.bool, device=self._known.device)

    def start(self, count: int) -> Tensor:
        return self.begin(torch.zeros(count, dtype=torch.int64, device=self._known.device))

    def begin(self, task: Tensor) -> Tensor:
        return self._joined(self.memory.start(len(task)), task)

    def _joined(self, carry: Tensor, task: Tensor) -> Tensor:
        flat = carry.flatten(1)
        return torch.cat([flat, task.to(flat.dtype).unsqueeze(1)], 1)

    def _own(self, carry: Tensor) -> Tensor:
        return carry[..., :-1].reshape(*carry.shape[:-1], *self._shape)

    def read(self, carry: Tensor, seen: Transition) -> Tensor:
        known = self._known_of(carry[:, -1].long())
        return self._joined(self.memory.read(self._own(carry), _with(seen, known)), carry[:, -1])

    def feature(self, carry: Tensor) -> Tensor:
        """The hidden state, the initial state of the task, and what is attended to."""
        task = carry[..., -1].long()
        return self._attending(self.memory.feature(self._own(carry)), self._known_of(task), task)

    def unrolled(self, carry: Tensor, seen: Transition, done: Tensor, task: Tensor) -> Tensor:
        """(time, envs, size) the features before each step of a rollout. Each of its tasks is looked at once."""
        known = self._known_of(task)
        return self._attending(self.memory.unrolled(self._own(carry), _with(seen, known), done, task), known, task)

    def _known_of(self, task: Tensor) -> Known:
        """What is known of tasks (…): with gradients found anew, else once after every change of the networks."""
        if torch.is_grad_enabled():
            tasks, which = torch.unique(task, return_inverse=True)
            table, rows = self.encoder(self.graphs, tasks)
            first = rows[which]
        else:
            missing = torch.unique(task[~self._fresh[task]])
            if len(missing):
                self._known[ranges(*self.graphs.states_of[:, missing])] = self.encoder(self.graphs, missing)[0]
                self._fresh[missing] = True
            table, first = self._known, self.graphs.states_of[0][task]
        return Known(table, first, table[first + self.graphs.begin[task]])

    def _attending(self, hidden: Tensor, known: Known, task: Tensor) -> Tensor:
        sizes = self.graphs.states_of[1][task].unsqueeze(-1)
        place = torch.arange(int(sizes.max()), device=sizes.device)
        real = place < sizes
        states = known.table[torch.where(real, known.first.unsqueeze(-1) + place, 0)]  # (…, states, width)
        scores = (states @ self.query(hidden).unsqueeze(-1)).squeeze(-1) / self.encoder.width**0.5
        shares = scores.masked_fill(~real, -torch.inf).softmax(-1)
        return torch.cat([hidden, known.begin, (shares.unsqueeze(-2) @ states).squeeze(-2)], -1)

    def on(self, frames: Tensor | None, tasks: TaskSet, belief: Belief | None = None) -> TaskRecurrentMemory:  # noqa: ARG002
        return TaskRecurrentMemory(self.memory, self.encoder, self.query, tasks)


def _with(seen: Transition, known: Known) -> Transition:
    assert seen.features is not None
    return seen._replace(features=torch.cat([seen.features, known.begin], -1))


def _plain(env: BatchedEnv, settings: RecurrentConfig, features: int) -> Memory:
    return RecurrentMemory(features, settings).to(env.device)


def _given_tasks(env: BatchedEnv, settings: RecurrentConfig, features: int) -> Memory:
    encoder = GraphEncoder(TaskGraphs(env.tasks))
    memory = RecurrentMemory(features + encoder.width, settings)
    query = nn.Linear(memory.size, encoder.width)
    # What it remembers of tasks is made where its parts are.
    return TaskRecurrentMemory(memory.to(env.device), encoder.to(env.device), query.to(env.device), env.tasks)


def _prepare(env: BatchedEnv, settings: RecurrentConfig, features: int, seed: int) -> Prepared:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + 1)
        return Prepared(env.tasks.either(_plain, _given_tasks)(env, settings, features))


RNN = METHODS.register(
    Method(
        name="rnn",
        label="RNN",
        knows="is given neither; remembers with an LSTM",
        prepare=_prepare,
        config=RecurrentConfig,
        section="recurrent",
        colour="#009e73",
        dark="#2ccb9d",
        dash=(1, 1),
        marker="^",
    )
)
