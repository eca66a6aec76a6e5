"""One task, seen through the view of tasks: what different states have in common, the policy learns once."""

from __future__ import annotations

import torch
from torch import Tensor

from nrm.errors import LimitError
from nrm.machines import MooreMachine, amount_of_letters, task_view, view_width
from nrm.tracking.memories import Belief, Memory, Transition

MAX_WIDTH = 20_000
"""Numbers of a view past which a policy should see the state instead."""


class ViewedMemory:
    """A memory that follows the states of a machine, whose policy sees the view from there (`nrm.machines.task_view`).

    Of a belief it is the expectation. The carry is the other memory's.
    """

    learns = False

    def __init__(self, memory: Memory, machine: MooreMachine) -> None:
        """`memory`: its feature is a belief over the states of `machine`."""
        width = view_width(machine.alphabet)
        if width > MAX_WIDTH:
            letters = amount_of_letters(machine.alphabet)
            raise LimitError(
                f"the view of a task over {letters} letters has {width:,} numbers, more than the limit of "
                f"{MAX_WIDTH:,}; let the policy see the state: --view state"
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

    def on(self, frames: Tensor | None, belief: Belief | None = None) -> ViewedMemory:
        """The same on other frames."""
        return ViewedMemory(self.memory.on(frames, belief), self._machine)
