"""Values that spread over the places of a map, from what is wanted and around what is in the way."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# The slices of a map with a rim of one place that are its neighbours below, above, to the right and to the left.
_INSIDE, _ON, _BACK = slice(1, -1), slice(2, None), slice(None, -2)
_NEIGHBOURS = ((_ON, _INSIDE), (_BACK, _INSIDE), (_INSIDE, _ON), (_INSIDE, _BACK))


class Spread(torch.autograd.Function):
    """The values v of v = max(goal, opened * the greatest v of the four neighbours), after some rounds.

    `goal` and `opened` are (rows, columns, n), `opened` less than 1: what is wanted fades from place to place along a
    way, and nothing gets through what is closed. Gradients follow the best way from each place. Once nothing changes
    any more they are those of the rounds themselves, but take a fraction of the time.
    """

    @staticmethod
    def forward(ctx: Any, goal: Tensor, opened: Tensor, rounds: int) -> Tensor:
        """(rows, columns, n)."""
        rows, columns, count = goal.shape
        rim = goal.new_zeros(rows + 2, columns + 2, count)
        value = rim[_INSIDE, _INSIDE]
        value.copy_(goal)
        for _ in range(rounds):
            near = torch.maximum(*(rim[place] for place in _NEIGHBOURS[:2]))
            for place in _NEIGHBOURS[2:]:
                torch.maximum(near, rim[place], out=near)
            torch.maximum(goal, near.mul_(opened), out=value)
        best, which = torch.stack([rim[place] for place in _NEIGHBOURS]).max(0)
        ctx.save_for_backward(goal, opened, best, which)
        ctx.rounds = rounds
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """What flows into a place flows on to its best neighbour, up to where something is wanted."""
        goal, opened, best, which = ctx.saved_tensors
        flow = gradients[0].contiguous()
        rows, columns, count = goal.shape
        moved = (opened * best > goal).to(flow.dtype)
        along = [opened * moved * (which == number) for number in range(len(_NEIGHBOURS))]
        arrived, rim = torch.zeros_like(goal), flow.new_empty(rows + 2, columns + 2, count)
        for _ in range(ctx.rounds + 1):
            arrived += flow
            rim.zero_()
            for place, share in zip(_NEIGHBOURS, along, strict=True):
                rim[place] += flow * share
            flow = rim[_INSIDE, _INSIDE].clone()
        return arrived * (1 - moved), arrived * moved * best, None


def spread(goal: Tensor, opened: Tensor, rounds: int) -> Tensor:
    """(rows, columns, n) values, from what is wanted and how open places are (rows, columns, n); see `Spread`."""
    result: Tensor = Spread.apply(goal, opened, rounds)  # type: ignore[no-untyped-call]
    return result
