"""Whole tasks as numbers: messages that go back along the moves of their machines."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from nrm.machines import TaskSet, labelled_moves

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
        found = [labelled_moves(machine) for machine in tasks.machines]
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
    has as many rounds as its states are steps away from acceptance, so larger tasks than those of training take more
    rounds of the same weights, and the numbers of a task do not depend on which others are asked for.
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
