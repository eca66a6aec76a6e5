"""Draw the pictures of the pages on shortcuts, MiniGrid, task encodings and event detectors.

Needs pygraphviz, MiniGrid, matplotlib, and the data files of aeon. The pictures go beside this file, into `images`:
python docs/make_pictures.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.image import imsave

import nrm
from nrm.envs.minigrid import minigrid_env
from nrm.machines import MooreMachine, colour, graphviz, task_view
from nrm.shortcuts import Shortcuts

IMAGES = Path(__file__).parent / "images"
CLASS_COLOURS = ("#4C72B0", "#DD8452", "#8C8C8C", "#55A868", "#C44E52")


def main() -> None:
    """Draw them all."""
    IMAGES.mkdir(exist_ok=True)
    machine = nrm.compile("F a & F b", nrm.logic.PAPER_SYMBOLS)
    found = nrm.shortcuts(machine)
    nrm.draw(machine, IMAGES / "shortcuts-machine.png")
    (IMAGES / "shortcuts-classes.png").write_bytes(picture(found, with_symmetry=False))
    (IMAGES / "shortcuts-symmetry.png").write_bytes(picture(found, with_symmetry=True))
    distinct = nrm.compile("F a & F b", nrm.logic.PAPER_SYMBOLS, reward="distinct")
    nrm.draw(distinct, IMAGES / "shortcuts-distinct.png")
    imsave(IMAGES / "minigrid-worlds.png", minigrid_envs())
    task_view_picture(IMAGES / "task-view.png")
    session_picture(IMAGES / "event-detector.png")
    watch_picture(IMAGES / "watch-session.png")


def session_picture(path: Path) -> None:
    """The picture that the page about event detectors draws."""
    page = Path(__file__).parent / "how-to" / "event-detectors.md"
    code = page.read_text().split("```python\n")[1].split("```")[0]
    exec(code.replace('"session.png"', repr(str(path))), {})


def watch_picture(path: Path) -> None:
    """The picture that the tutorial about a smartwatch draws."""
    page = Path(__file__).parent / "get-started" / "smartwatch.ipynb"
    cells = [cell["source"] for cell in json.loads(page.read_text())["cells"] if cell["cell_type"] == "code"]
    code = "\n".join(map("".join, cells))
    exec(code.replace('"session.png"', repr(str(path))), {})


def task_view_picture(path: Path) -> None:
    """The view from each state of a task: a row for each state, a column for each letter in each block."""
    letters = list("abcde")
    machine = nrm.compile("F(a & (!b U c)) & F d & G !e", letters)
    view = task_view(machine)
    order = np.argsort(-machine.distance_to_acceptance, kind="stable")
    figure, axes = plt.subplots(
        1, 5, figsize=(10, 2.6), width_ratios=[5, 5, 5, 5, 1], sharey=True, layout="constrained"
    )
    titles = ("helps now", "violates now", "helps next", "violates next", "to go")
    for number, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        block = view[order][:, number * 5 : number * 5 + (5 if number < 4 else 1)]
        colours = "RdBu" if "helps" in title else "Reds" if "violates" in title else "Greys"
        axis.imshow(block, cmap=colours, vmin=-1.8 if "helps" in title else 0, vmax=1.8)
        for (row, column), value in np.ndenumerate(block):
            if value:
                axis.text(column, row, f"{value:.2g}", ha="center", va="center", fontsize=8)
        axis.set_xticks(range(block.shape[1]), letters if number < 4 else ("",), fontsize=9)
        axis.set_title(title, fontsize=10)
        axis.tick_params(length=0)
    axes[0].set_yticks(range(machine.states), [_to_go(machine, q) for q in order], fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _to_go(machine: MooreMachine, state: int) -> str:
    steps = int(machine.distance_to_acceptance[state])
    return "violated" if steps < 0 else f"{steps} steps to go" if steps != 1 else "1 step to go"


def minigrid_envs() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The first image of an episode in some environments with a ready task, four times as large."""
    names = ("MiniGrid-LavaGapS5-v0", "MiniGrid-DoorKey-5x5-v0", "MiniGrid-RedBlueDoors-6x6-v0")
    seen = [minigrid_env(name).reset(seed=2)[0].repeat(4, axis=0).repeat(4, axis=1) for name in names]
    height = max(len(image) for image in seen)
    white = [np.pad(image, ((height - len(image), 0), (0, 12), (0, 0)), constant_values=255) for image in seen]
    return np.concatenate(white, axis=1)[:, :-12]


def picture(found: Shortcuts, with_symmetry: bool) -> bytes:
    """The machine with an edge for each letter class, in the class's colour; and where the symmetry takes states."""
    graph = graphviz().AGraph(directed=True, strict=False, rankdir="LR", dpi="140", pad="0.2", nodesep="0.5")
    graph.node_attr.update(style="filled", fontname="Helvetica", fontsize="11", fixedsize="true", width="0.72")
    graph.edge_attr.update(fontname="Helvetica", fontsize="10", arrowsize="0.7")
    _states(graph, found.machine)
    (symmetry,) = found.group.generators
    images = found.states_under(symmetry)
    for state in range(found.machine.states):
        for number, letters in enumerate(found.classes):
            paint = CLASS_COLOURS[number]
            target = int(found.machine.columns[state, number])
            # Loops of the lower state of a pair hang below it, out of the way of the arrow between them.
            side = "s" if target == state > images[state] else ""
            graph.add_edge(
                state,
                target,
                key=str(number),
                label=", ".join(letters),
                color=paint,
                fontcolor=paint,
                headport=side,
                tailport=side,
            )
    if with_symmetry:
        for state, image in enumerate(images):
            if state < image:
                graph.add_edge(
                    state, image, key="h", label="  h", dir="both", style="dashed", constraint="false", penwidth="1.6"
                )
    drawn: bytes = graph.draw(format="png", prog="dot")
    return drawn


def _states(graph: Any, machine: MooreMachine) -> None:
    graph.add_node("start", shape="none", label="", width="0.1", height="0.1", style="")
    for state in range(machine.states):
        level = float(machine.outputs[state])
        shape = "doublecircle" if machine.accepting[state] else "circle"
        graph.add_node(state, label=f"{state}\\n{level:g}", shape=shape, fillcolor=colour(level))
    graph.add_edge("start", machine.initial)


if __name__ == "__main__":
    main()
