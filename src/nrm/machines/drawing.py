"""Pictures of machines: SVG and PNG through Graphviz, and a text picture for terminals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from nrm.errors import FileError, LimitError, MissingExtraError, NrmError, shorten
from nrm.files import write_bytes
from nrm.machines.formats.dot import graphviz, to_dot
from nrm.machines.guards import move_texts
from nrm.machines.moore import MooreMachine
from nrm.machines.task import MachineLike, as_machine


@dataclass(frozen=True)
class Picture:
    """The picture of a machine; notebooks display it."""

    machine: MooreMachine = field(repr=False)
    title: str = ""

    @cached_property
    def svg(self) -> str:
        """The SVG text."""
        return render(self.machine, "svg", self.title).decode()

    def save(self, path: Path | str) -> None:
        """Write the picture as .svg or .png."""
        ending = Path(path).suffix.lower()
        if ending not in (".svg", ".png"):
            raise FileError(f"pictures are .svg or .png files, not '{Path(path).name}'")
        write_bytes(path, render(self.machine, "png", self.title) if ending == ".png" else self.svg.encode())

    def _repr_svg_(self) -> str:
        return self.svg


def draw(machine: MachineLike, path: Path | str | None = None, title: str = "") -> Picture:
    """Draw a machine or a task. With a path (.svg or .png), also write the file."""
    picture = Picture(as_machine(machine), title)
    if path is not None:
        picture.save(path)
    return picture


def notebook_svg(machine: MachineLike, title: str = "") -> str | None:
    """The picture that a notebook shows; None, for plain text, where it cannot be drawn."""
    try:
        return draw(machine, title=title).svg
    except NrmError:
        return None


def render(
    machine: MooreMachine,
    form: Literal["svg", "png"],
    title: str = "",
    output: Callable[[float], str] = "{:.4g}".format,
) -> bytes:
    """The picture of a machine as bytes. `output`: how the output of a state is written."""
    most = 200  # beyond it a picture shows nothing, and layout takes minutes
    if machine.states > most:
        raise LimitError(
            f"the machine has {machine.states:,} states; pictures are drawn up to {most}. Write it as JSON or DOT"
        )
    graph = graphviz().AGraph(string=to_dot(machine, title, output))
    if form == "png":
        graph.graph_attr["dpi"] = "140"
    try:
        picture: bytes = graph.draw(format=form, prog="dot")
    except ValueError as error:
        raise MissingExtraError(f"pictures need Graphviz's program dot: {error}") from None
    return picture


def text_picture(
    machine: MooreMachine,
    most: int = 60,
    most_moves: int = 12,
    output: Callable[[float], str] = "potential {:.4g}".format,
) -> str:
    """The machine for a terminal: a block per state with its potential and its moves, the first ones of each."""
    lines = []
    for state in range(min(machine.states, most)):
        marks = [
            name
            for name, here in (
                ("start", state == machine.initial),
                ("accepting", bool(machine.accepting[state])),
                ("failure", bool(machine.dead[state])),
            )
            if here
        ]
        note = f"   {', '.join(marks)}" if marks else ""
        ring = f"(({state}))" if machine.accepting[state] else f"({state})"
        lines.append(f"{ring:>7}  {output(machine.outputs[state])}{note}")
        targets = len(machine.targets(state))
        shown = move_texts(machine, state, most_moves)
        for index, (target, condition) in enumerate(shown):
            branch = "└─" if index == targets - 1 else "├─"
            where = "stay" if target == state else f"({target})"
            lines.append(f"         {branch} {shorten(condition, 48):<20} → {where}")
        if targets > len(shown):
            lines.append(f"         └─ … to {targets - len(shown):,} more states")
    if machine.states > most:
        lines.append(f"         … and {machine.states - most:,} more states (use --json to see all)")
    return "\n".join(lines)
