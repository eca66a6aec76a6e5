"""An episode as an animation: what the environment renders, with what happened and what the agent believes."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nrm.errors import require
from nrm.machines import MooreMachine

if TYPE_CHECKING:
    from nrm.agents import Played


def captioned(image: Any, lines: Sequence[str]) -> Any:
    """The environment, 320 pixels high, with its caption below."""
    require("PIL", "animations need pillow", "render")
    from PIL import Image, ImageDraw, ImageFont, ImageOps

    wrapped = [part for line in lines for part in textwrap.wrap(line, 68, subsequent_indent="    ") or [""]]
    env = ImageOps.contain(Image.fromarray(np.asarray(image)), (320, 320), Image.Resampling.NEAREST)
    canvas = Image.new("RGB", (460, 320 + 18 * len(wrapped) + 14), "white")
    canvas.paste(env, ((460 - env.width) // 2, (320 - env.height) // 2))
    text = "\n".join(wrapped).replace("█", "|")
    ImageDraw.Draw(canvas).text((8, 326), text, fill="black", font=ImageFont.load_default(size=13))
    return canvas


def gif(pictures: Sequence[Any]) -> bytes:
    """Pictures one after the other, the last one longer; all as tall as the tallest."""
    from PIL import ImageOps

    height = max(picture.height for picture in pictures)
    same = [ImageOps.pad(one, (one.width, height), color="white", centering=(0, 0)).quantize(96) for one in pictures]
    buffer = io.BytesIO()
    waits = [500] * (len(same) - 1) + [1800]
    same[0].save(buffer, format="GIF", save_all=True, append_images=same[1:], duration=waits, loop=0)
    return buffer.getvalue()


def observed(shown: Played) -> str:
    """What the agent sees, for environments that draw nothing."""
    seen = shown.batch.final_observation[0].numpy()
    return f"observation {seen}" if seen.ndim < 2 else f"observation of shape {seen.shape}"


def caption(machine: MooreMachine, shown: Played, number: int, names: tuple[str, ...]) -> list[str]:
    """What happened at a step, and what the agent believes."""
    alphabet = machine.alphabet
    letter = alphabet.letter_name(int(shown.label[0]))
    action = f"  {names[int(shown.action[0])]}" if names and shown.action.dim() == 1 else ""
    lines = [f"step {number}{action}  reward {float(shown.batch.reward[0]):+g}  true symbol {letter}"]
    if shown.said is not None:
        symbols = shown.said[0]
        lines[0] += f"  predicted {alphabet.letter_name(int(symbols.argmax()))} ({float(symbols.max()):.0%})"
    if shown.belief is None:
        return lines
    true = int(shown.state[0])
    return [*lines, *bars(shown.belief[0].tolist(), {true: "<- true"}, true)]


def bars(shares: list[float], notes: dict[int, str], first: int | None = None) -> list[str]:
    """A line for each state with its share, or for the likeliest and the `first`, where there are many."""
    likeliest = sorted(range(len(shares)), key=lambda state: (state != first, -shares[state]))
    lines = []
    for state in sorted(likeliest[:12]):
        bar = "█" * round(shares[state] * 24)
        lines.append(f"  state {state:<3} {bar:<24} {shares[state]:4.0%} {notes.get(state, '')}".rstrip())
    return lines


def ending(machine: MooreMachine, shown: Played | None) -> str:
    """How the episode ended."""
    if shown is None or not bool(shown.batch.terminated[0]):
        return "time limit reached"
    state = int(shown.state[0])
    if machine.accepting[state]:
        return "task satisfied"
    return "task violated" if machine.dead[state] else "the environment ended the episode; the task is still open"
