"""A task's machine for a page: where Graphviz puts everything, and the same as a table."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from nrm.aliases import Json
from nrm.errors import MissingExtraError
from nrm.machines import MooreMachine
from nrm.machines.formats.dot import colour, graphviz, to_dot
from nrm.machines.guards import moves

MOST_DRAWN = 60
"""States up to which a machine is drawn on a page."""
MOST_LISTED = 60
"""States whose moves are listed."""
MOST_MOVES = 12
"""Moves of a state that are listed."""


def machine_data(machine: MooreMachine) -> Json:
    """States with their levels, their moves in words, and a drawing where Graphviz is at hand."""
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
            [[target, str(condition)] for target, condition in moves(machine, state, MOST_MOVES)]
            for state in range(min(machine.states, MOST_LISTED))
        ],
        "drawing": drawing(machine),
    }


def drawing(machine: MooreMachine) -> Json | None:
    """Places of states, moves and guards as Graphviz lays them out, y downwards; None where it cannot.

    The page draws them itself: so they follow its colours, and a state can be lit up.
    """
    if machine.states > MOST_DRAWN:
        return None
    try:
        graph = graphviz().AGraph(string=to_dot(machine))
        laid_out: Json = json.loads(graph.draw(format="json", prog="dot"))
    except (MissingExtraError, OSError, ValueError):
        return None
    _, _, width, height = (float(part) for part in laid_out["bb"].split(","))
    objects = laid_out["objects"]
    nodes = []
    for item in objects:
        if item["name"] != "start":
            x, y = (float(part) for part in item["pos"].split(","))
            nodes.append({"state": int(item["name"][1:]), "at": _place(x, y, height), "radius": _radius(item)})
    edges = [
        {
            "from": _state(objects[edge["tail"]]),
            "to": _state(objects[edge["head"]]),
            **_path(edge["pos"], height),
            "label": [[*_place(part["pt"][0], part["pt"][1], height), part["text"]] for part in _texts(edge)],
        }
        for edge in laid_out["edges"]
    ]
    return {"width": round(width, 1), "height": round(height, 1), "nodes": nodes, "edges": edges}


def _state(item: Json) -> int:
    """The state of a node; -1 for the point that the first arrow comes from."""
    return -1 if item["name"] == "start" else int(item["name"][1:])


def _radius(item: Json) -> float:
    return round(float(item["width"]) * 36, 1)  # inches across, at 72 points an inch


def _place(x: float, y: float, height: float) -> list[float]:
    return [round(x, 1), round(height - y, 1)]


def _path(text: str, height: float) -> Json:
    """A spline of Graphviz, `e,x,y x,y x,y …`, as the points of Bézier curves and the tip of the arrow."""
    tip = None
    points = []
    for part in text.split():
        numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", part.removeprefix("e,"))]
        if part.startswith("e,"):
            tip = _place(numbers[0], numbers[1], height)
        else:
            points.append(_place(numbers[0], numbers[1], height))
    return {"points": points, "tip": tip or points[-1]}


def _texts(edge: Json) -> list[Any]:
    return [part for part in edge.get("_ldraw_", ()) if part.get("op") == "T"]
