"""A task's machine for a page: where Graphviz puts everything, and the same as a table."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from nrm.aliases import Json
from nrm.errors import MissingExtraError
from nrm.machines import MooreMachine, colour, graphviz, move_texts, to_dot

MAX_DRAWN = 60
"""States up to which a machine is drawn on a page."""
MAX_LISTED = 60
"""States whose moves are listed."""
MAX_MOVES = 12
"""Moves of a state that are listed."""


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
            [[target, condition] for target, condition in move_texts(machine, state, MAX_MOVES)]
            for state in range(min(machine.states, MAX_LISTED))
        ],
        "drawing": drawing(machine),
    }


def drawing(machine: MooreMachine) -> Json | None:
    """Places of states, moves and guards as Graphviz lays them out, y downwards; None where it cannot.

    The page draws them itself: so they follow its colours, and a state can be lit up.
    """
    if machine.states > MAX_DRAWN:
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
    return {"width": round(width, 1), "height": round(height, 1), "nodes": nodes, "edges": edges}


def _place(point: Sequence[str | float], height: float) -> list[float]:
    x, y = map(float, point)
    return [round(x, 1), round(height - y, 1)]


def _path(text: str, height: float) -> Json:
    """A spline of Graphviz, `e,x,y x,y x,y …`, as the points of Bézier curves and the tip of the arrow."""
    parts = text.split()
    tips = [_place(part.split(",")[1:], height) for part in parts if part.startswith("e,")]
    points = [_place(part.split(","), height) for part in parts if not part.startswith("e,")]
    return {"points": points, "tip": [*tips, points[-1]][0]}
