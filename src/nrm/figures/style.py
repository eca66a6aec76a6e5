"""How every figure looks, and how it becomes files. Nothing here changes what another user of matplotlib sees."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nrm.errors import require, shorten
from nrm.files import make_folder, write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#555555"
# Okabe and Ito's colours, which stay apart for colour-blind readers.
VERMILION, PURPLE, ORANGE, SKY, BLACK = "#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#000000"
MORE_COLOURS = (PURPLE, ORANGE, SKY, BLACK)
MORE_LINES: tuple[Any, ...] = ((0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (6, 2, 1, 2)), "-")


@dataclass(frozen=True)
class Look:
    """How a series is drawn: different lines too, so that it can be read in grey."""

    colour: str
    line: Any
    marker: str


ACCURACY_LOOKS = {
    "accuracy": ("exact", Look(BLACK, (0, (1, 1)), "o")),
    "balanced_accuracy": ("balanced", Look(PURPLE, (0, (4, 1.5)), "s")),
    "accuracy_modulo_shortcuts": ("up to equivalence", Look(VERMILION, "-", "^")),
}
"""The label and the look of each accuracy of a grounder."""


def further_look(place: int) -> Look:
    """The look of the `place`-th series beyond the methods as such."""
    markers = "DvPX*"
    line = MORE_LINES[place % len(MORE_LINES)]
    return Look(MORE_COLOURS[place % len(MORE_COLOURS)], line, markers[place % len(markers)])


def new_figure(count: int, height: float, tall: bool = True, **shared: Any) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels, at most two in a row, each `height` inches high.

    `tall`: leave room for the name of the vertical axis.
    """
    matplotlib_or_error()
    from matplotlib.figure import Figure

    columns = min(2, count)
    rows = -(-count // columns)
    # As wide as a page of text. The legend and the labels around the panels need about as much room whatever their
    # number, and one row of panels must be as high as the name of its axis is long.
    figure = Figure(figsize=(7.2, max(rows * height, 2.6 if tall else 0) + 0.75), layout="constrained")
    panels: list[Axes] = list(figure.subplots(rows, columns, squeeze=False, **shared).flat)
    for unused in panels[count:]:
        unused.remove()
    for panel in panels[:count]:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
        panel.grid(alpha=0.25, linewidth=0.6)
    for lowest in panels[count - columns : count]:
        lowest.tick_params(labelbottom=True)
    return figure, panels[:count]


def title(panel: Axes, text: str, note: str = "") -> None:
    """The title of a panel, flush left, with a smaller line under it."""
    panel.set_title(shorten(text, 58), loc="left", fontsize=9, pad=14 if note else 5)
    if note:
        above: dict[str, Any] = {"xytext": (0, 3), "textcoords": "offset points"}
        panel.annotate(note, (0, 1), xycoords="axes fraction", fontsize=7.5, color=GREY, va="bottom", **above)


def legend_above(figure: Figure, looks: Sequence[tuple[str, Look]], band: str = "") -> None:
    """One legend for all panels, above them: a line for each label, and what the bands around lines are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D([], [], color=look.colour, linestyle=look.line, linewidth=1.6, label=label) for label, look in looks
    ]
    if band:
        handles.append(Patch(color="#999999", alpha=0.35, linewidth=0, label=band))
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    columns = max(1, min(5, len(handles), 105 // (longest + 7)))  # letters in a row; a line takes the room of 7
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False, fontsize=9)


def name_axes(figure: Figure, x: str, y: str, left_out: str) -> None:
    """The names of the axes that all panels share, and what was left out."""
    figure.supxlabel(f"{x}  ({left_out})" if left_out else x, fontsize=9)
    if y:
        figure.supylabel(y, fontsize=9)


def save(figure: Figure, out: Path, name: str) -> list[Path]:
    """Write `name.svg` and `name.png`; equal figures give equal files."""
    make_folder(out)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, not anew for each file
    paths = []
    for suffix, options in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 160})):
        buffer = io.BytesIO()
        with matplotlib_or_error().rc_context({"svg.hashsalt": "nrm"}):
            figure.savefig(buffer, format=suffix, **options)
        paths.append(out / f"{name}.{suffix}")
        write_bytes(paths[-1], buffer.getvalue())
    return paths


def matplotlib_or_error() -> Any:
    """The matplotlib module, or an error that says how to get it."""
    return require("matplotlib", "figures need matplotlib", "figures", " (tables work without it)")


def file_part(text: str) -> str:
    """A name as part of a file name."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in text)
