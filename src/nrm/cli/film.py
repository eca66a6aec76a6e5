"""Pictures of an episode, as text and as a moving picture; and what the policy sees of its task."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.style import Style
from rich.text import Text

from nrm.errors import listing, require

if TYPE_CHECKING:
    from nrm.machines import MooreMachine

CLEAR = 0.5
"""From which a number of the view counts: under a belief it is an expectation."""


class Wish(NamedTuple):
    """A symbol, and what reading it would do to the task."""

    name: str
    kind: str
    """helps, sets back, loses, or nothing."""


def wishes(machine: MooreMachine, view: Sequence[float]) -> list[Wish]:
    """What each letter would do now, by the view (4 * letters + 1) of a task."""
    letters = machine.alphabet.size
    found = []
    for letter in range(letters):
        gain, lost = view[letter], view[letters + letter]
        kind = "loses" if lost >= CLEAR else "helps" if gain >= CLEAR else "sets back" if gain <= -CLEAR else ""
        found.append(Wish(machine.alphabet.letter_name(letter), kind))
    return found


def wish_line(found: Sequence[Wish]) -> str:
    """The same in a line: `now gem helps; lava loses`."""
    parts = []
    for kind, several in (("helps", "help"), ("sets back", "set back"), ("loses", "lose")):
        names = [wish.name for wish in found if wish.kind == kind]
        if names:
            parts.append(f"{listing(names)} {kind if len(names) == 1 else several}")
    return f"now {'; '.join(parts)}" if parts else "now nothing changes anything"


COLUMNS = 64
"""Characters across of a picture in the terminal."""
PLAIN_COLUMNS = 56
"""The same without colours."""
SHADES = " .:-=+*#%@"
"""From what looks like the ground to what differs most from it."""
ENV, WIDTH = 320, 460
"""Pixels that the environment takes of a moving picture, and its width."""
LINE, BOX = 18, 22
"""Pixels of a line of text, and of a row of boxes."""
MAX_BOXES = 14
"""Symbols that get a box."""
COLOURS = {"helps": (11, 95, 174), "sets back": (196, 90, 0), "loses": (138, 28, 28), "": (232, 235, 239)}
SIGNS = {"helps": "+", "sets back": "-", "loses": "x", "": ""}


def blocks(image: NDArray[np.uint8], columns: int = COLUMNS) -> Text:
    """A picture (height, width, 3) as text: each character is two pixels, one above the other."""
    small = _sampled(image, columns).tolist()
    text = Text(no_wrap=True)
    for upper, lower in zip(small[::2], small[1::2], strict=True):
        for above, below in zip(upper, lower, strict=True):
            text.append("▀", Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below)))
        text.append("\n")
    return text


def shades(image: NDArray[np.uint8], columns: int = PLAIN_COLUMNS) -> str:
    """A picture (height, width, 3) as text without colours: a character for two pixels, by how it differs from most."""
    pixels = _sampled(image, columns).astype(np.float64)
    pixels = (pixels[::2] + pixels[1::2]) / 2
    colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    away = np.abs(pixels - colours[counts.argmax()]).sum(-1)
    steps = np.ceil(away / max(float(away.max()), 1.0) * (len(SHADES) - 1)).astype(np.int64)
    return "\n".join("".join(SHADES[step] for step in row).rstrip() for row in steps)


def _sampled(image: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """(even, columns, 3) single pixels of a picture, as many rows as its shape asks for."""
    height, width, _ = image.shape
    across = min(columns, width)
    down = 2 * max(1, round(height * across / width / 2))
    rows, places = np.arange(down) * height // down, np.arange(across) * width // across
    sampled: NDArray[np.uint8] = image[rows][:, places]
    return sampled


def captioned(image: Any, lines: Sequence[str], wishes: Sequence[Wish] = ()) -> Any:
    """The environment with its caption below, and a box for each symbol that says what it would do to the task."""
    require("PIL", "moving pictures need pillow", "render")
    from PIL import Image, ImageDraw, ImageFont, ImageOps

    wrapped = [part for line in lines for part in textwrap.wrap(line, 68, subsequent_indent="    ") or [""]]
    shown = wishes[:MAX_BOXES]
    env = ImageOps.contain(Image.fromarray(np.asarray(image)), (ENV, ENV), Image.Resampling.NEAREST)
    font = ImageFont.load_default(size=13)
    columns, rows = _box_grid([font.getlength(wish.name) for wish in shown])
    height = ENV + LINE * len(wrapped) + 14 + rows * (BOX + LINE + 4)
    canvas = Image.new("RGB", (WIDTH, height), "white")
    canvas.paste(env, ((WIDTH - env.width) // 2, (ENV - env.height) // 2))
    pen = ImageDraw.Draw(canvas)
    pen.text((8, ENV + 6), "\n".join(wrapped).replace("█", "|"), fill="black", font=font)
    for place, wish in enumerate(shown):
        row, column = divmod(place, columns)
        top = height - (rows - row) * (BOX + LINE + 4) - 2
        left = 8 + column * (WIDTH - 16) / columns
        right = 8 + (column + 1) * (WIDTH - 16) / columns - 4
        pen.rounded_rectangle((left, top, right, top + BOX), 4, fill=COLOURS[wish.kind])
        middle = (left + right) / 2
        pen.text((middle, top + BOX / 2), SIGNS[wish.kind], fill="white", font=font, anchor="mm")
        pen.text((middle, top + BOX + LINE / 2 + 2), wish.name, fill="black", font=font, anchor="mm")
    return canvas


def _box_grid(widths: Sequence[float]) -> tuple[int, int]:
    """Columns and rows of boxes with names of these widths below them, such that no two names touch."""
    if not widths:
        return 0, 0
    fitting = max(1, int((WIDTH - 16) // (max(widths) + 6)))
    rows = -(-len(widths) // fitting)
    return -(-len(widths) // rows), rows


def gif(pictures: Sequence[Any]) -> bytes:
    """Pictures one after the other, the last one longer; all as tall as the tallest."""
    from PIL import Image

    height = max(picture.height for picture in pictures)
    same = []
    for picture in pictures:
        canvas = Image.new("RGB", (picture.width, height), "white")
        canvas.paste(picture, (0, 0))
        same.append(canvas.convert("P", palette=Image.Palette.ADAPTIVE, colors=96))
    buffer = io.BytesIO()
    waits = [500] * (len(same) - 1) + [1800]
    same[0].save(buffer, format="GIF", save_all=True, append_images=same[1:], duration=waits, loop=0)
    return buffer.getvalue()
