"""A task's machine for a page: where Graphviz puts everything, and the same as a table."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nrm.aliases import Json
from nrm.errors import MissingExtraError
from nrm.machines import MooreMachine, colour, graphviz, move_texts, to_dot

MAX_STATES = 60
"""States up to which a machine is drawn on a page, and whose moves are listed."""


def machine_data(machine: MooreMachine) -> Json:
    """States with their potentials, their moves in words, and a drawing where Graphviz is at hand."""
    largest = float(np.abs(machine.outputs).max()) or 1.0
    return {
        "initial": machine.initial,
        "states": [
            {
                "level": round(float(machine.outputs[state]), 4),
                "accepting": bool(machine.accepting[state]),
                "failure": bool(machine.dead[state]),
                "colour": colour(float(machine.outputs[state]) / largest),
            }
            for state in range(machine.states)
        ],
        "moves": [
            [[target, condition] for target, condition in move_texts(machine, state, 12)]
            for state in range(min(machine.states, MAX_STATES))
        ],
        "drawing": drawing(machine),
    }


def drawing(machine: MooreMachine) -> Json | None:
    """Places of states, moves and guards as Graphviz lays them out, y downwards; None where it cannot.

    The page draws them itself: so they follow its colours, and a state can be lit up.
    """
    if machine.states > MAX_STATES:
        return None
    try:
        graph = graphviz().AGraph(string=to_dot(machine))
        laid_out: Json = json.loads(graph.draw(format="json", prog="dot"))
    except (MissingExtraError, OSError, ValueError):
        return None
    _, _, width, height = (float(part) for part in laid_out["bb"].split(","))
    # The first arrow comes from a point that is no state.
    states = [-1 if item["name"] == "start" else int(item["name"][1:]) for item in laid_out["objects"]]
    nodes = []
    for state, item in zip(states, laid_out["objects"], strict=True):
        if state >= 0:
            radius = float(item["width"]) * 36  # inches across, at 72 points an inch
            nodes.append({"state": state, "at": _place(item["pos"].split(","), height), "radius": round(radius, 1)})
    edges = []
    for edge in laid_out["edges"]:
        texts = [part for part in edge.get("_ldraw_", ()) if part.get("op") == "T"]
        edges.append(
            {
                "from": states[edge["tail"]],
                "to": states[edge["head"]],
                **_path(edge["pos"], height),
                "label": [[*_place(text["pt"], height), text["text"]] for text in texts],
            }
        )
    _separate([edge["label"] for edge in edges], nodes)
    return {"width": round(width, 1), "height": round(height, 1), "nodes": nodes, "edges": edges}


def _separate(labels: list[list[Any]], nodes: list[Json]) -> None:
    """Move labels up or down until none covers another, or a state: Graphviz leaves less room than browsers take."""
    taken: list[tuple[float, ...]] = []
    for node in nodes:
        (x, y), radius = node["at"], node["radius"]
        taken.append((x - radius, y - radius, x + radius, y + radius))
    for lines in sorted(labels, key=lambda lines: -max((len(text) for *_, text in lines), default=0)):
        free = (shift for shift in (0, 6, -6, 12, -12, 18, -18, 24, -24) if not _covered(_boxes(lines, shift), taken))
        shift = next(free, 0)
        taken += _boxes(lines, shift)
        lines[:] = [[x, round(y + shift, 1), text] for x, y, text in lines]


def _boxes(lines: list[Any], shift: float = 0) -> list[tuple[float, ...]]:
    """The room of some lines: x and y from, x and y to. Letters of 10 pixels are less than 6 wide."""
    return [(x - 3 * len(text), y + shift - 9, x + 3 * len(text), y + shift + 3) for x, y, text in lines]


def _covered(boxes: list[tuple[float, ...]], taken: list[tuple[float, ...]]) -> bool:
    return any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for a in boxes for b in taken)


def _place(point: Sequence[str | float], height: float) -> list[float]:
    x, y = map(float, point)
    return [round(x, 1), round(height - y, 1)]


def _path(text: str, height: float) -> Json:
    """A spline of Graphviz, `e,x,y x,y x,y …`, as the points of Bézier curves and the tip of the arrow."""
    parts = text.split()
    tips = [_place(part.split(",")[1:], height) for part in parts if part.startswith("e,")]
    points = [_place(part.split(","), height) for part in parts if not part.startswith("e,")]
    return {"points": points, "tip": [*tips, points[-1]][0]}


class Tiles:
    """The tiles that a page needs, each of them once."""

    def __init__(self) -> None:
        self.images: dict[str, int] = {}
        """Data URIs, numbered in their order."""

    def number(self, pixels: NDArray[np.uint8]) -> int:
        """The number of a picture among the images."""
        image = "data:image/png;base64," + base64.b64encode(png(pixels)).decode()
        return self.images.setdefault(image, len(self.images))


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture (height, width, 3) as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, width * 3)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
