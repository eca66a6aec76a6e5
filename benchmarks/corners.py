"""What holds in an empty room of MiniGrid: the corner that the agent is in. The fourth is the goal; it ends episodes.

`nrm sweep benchmarks/sweeps/patrol.toml` trains on it. The images show where the agent is, and never where it has been.
"""

from __future__ import annotations

from typing import Any


def corner(_observation: Any, _info: Any, env: Any) -> str:
    """The corner, or `elsewhere`."""
    room = env.unwrapped
    right, bottom = room.width - 2, room.height - 2
    x, y = (int(number) for number in room.agent_pos)
    return {(1, 1): "nw", (right, 1): "ne", (1, bottom): "sw"}.get((x, y), "elsewhere")
