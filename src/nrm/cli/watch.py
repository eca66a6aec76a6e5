"""`nrm watch`: an episode of a trained agent, step by step."""

from __future__ import annotations

import io
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from nrm.cli.arguments import UsageError
from nrm.cli.learned import LearnedSymbols, learned_lines
from nrm.cli.options import STUCK, AgentOptions, OutOption
from nrm.errors import listing, require
from nrm.files import write_bytes

if TYPE_CHECKING:
    from nrm.agents import Played, Trainer
    from nrm.machines import MooreMachine


@dataclass(frozen=True, kw_only=True)
class Watch(AgentOptions, OutOption):
    """Show one episode: the environment, the belief, the predicted symbol and the true one.

    If the run learned its machine, the states and symbols shown are the learned ones. --out FILE.gif writes an
    animation.

    For example:
      nrm watch runs/gem
      nrm watch runs/gem --out gem.gif
      nrm watch runs/letters --task "F(a & (!b U c)) & F d"
    """

    def run(self) -> int:
        """Play one episode."""
        import torch

        from nrm.agents import action_names, film
        from nrm.runs import find_run

        if self.out is not None and self.out.suffix.lower() != ".gif":
            raise UsageError(f"--out takes a .gif file, not '{self.out}'")
        torch.set_num_threads(1)
        folder = find_run(self.folder)
        trainer, config = folder.load_policy(), folder.config()
        machine = config.about.chosen(trainer, config, self.task_text)
        mode = "ansi" if self.out is None else "rgb_array"
        env = config.env_config.render(machine, mode, config.end)
        if self.out is not None and env.render_mode != mode:
            raise UsageError(f"{config.env} does not render as '{mode}', but as {env.render_mode!r}; drop --out")
        symbols = None if trainer.inference is None else LearnedSymbols.of(trainer.inference)
        console = Console(highlight=False)
        names = action_names(env)
        frames: list[Any] = []
        shown = None
        if symbols is not None:
            console.print(f"{symbols.legend()}\n", markup=False)
        played = film(trainer, env, self.seed, self.greedy, name=config.env)
        for number, (pictures, shown) in enumerate(played, 1):
            if self.out is not None and not pictures:
                raise UsageError(f"{config.env} renders no images; drop --out")
            lines = _caption(machine, shown, number, names)
            if symbols is not None and shown.read is not None:
                lines[0] += f"  read {symbols.said(int(shown.read[0]))}"
            lines += _learned_states(trainer, shown)
            # Of a task that is over the encoding says nothing: it is that of tasks that go on.
            encoded = shown.belief is not None and shown.memory.shape[-1] == 4 * machine.alphabet.size + 1
            if encoded and not bool(shown.done[0]):
                lines.append(f"  {wish_line(machine, shown.memory[0].tolist())}")
            lines = lines if self.task is None else [self.task, *lines]
            if self.out is None:
                _show(console, pictures[-1] if pictures else _observation(shown), lines)
            else:
                frames.append(_captioned(pictures[-1], lines))
        if self.out is not None:
            write_bytes(self.out, _gif(frames))
            print(f"{len(frames)} steps, {_ending(machine, shown)}: wrote {self.out}")
        else:
            console.print(_ending(machine, shown), markup=False)
            if self.greedy and shown is not None and not bool(shown.batch.terminated[0]):
                console.print(STUCK)
        if (learned := folder.machines()) is not None:
            console.print("\n".join(learned_lines(learned, len(trainer.history.returns))), markup=False)
        return 0


def wish_line(machine: MooreMachine, view: Sequence[float]) -> str:
    """What each letter would do now, by the view (4 * letters + 1) of a task: `now gem helps; lava violates`."""
    found: dict[str, list[str]] = {"helps": [], "undoes progress": [], "violates": []}
    letters = machine.alphabet.size
    for letter in range(letters):
        gain, lost = view[letter], view[letters + letter]
        # Under a belief these are expectations.
        kind = "violates" if lost >= 0.5 else "helps" if gain >= 0.5 else "undoes progress" if gain <= -0.5 else ""
        found.setdefault(kind, []).append(machine.alphabet.letter_name(letter))
    several = {"helps": "help", "undoes progress": "undo progress", "violates": "violate"}
    parts = [
        f"{listing(found[kind])} {kind if len(found[kind]) == 1 else several[kind]}" for kind in several if found[kind]
    ]
    return f"now {'; '.join(parts)}" if parts else "now no symbol matters"


def _observation(shown: Played) -> str:
    """What the agent sees, for environments that draw nothing."""
    seen = shown.batch.final_observation[0].numpy()
    return f"observation {seen}" if seen.ndim < 2 else f"observation of shape {seen.shape}"


def _show(console: Console, picture: Any, lines: list[str]) -> None:
    """One step in the terminal: a text as it is, pixels as coloured blocks where somebody looks at them."""
    if isinstance(picture, str):
        console.print(picture, markup=False)
    elif console.is_terminal:
        console.print(_blocks(np.asarray(picture)))
    console.print("\n".join(lines) + "\n", markup=False)
    time.sleep(0.4 if console.is_terminal else 0.0)


def _blocks(image: NDArray[np.uint8]) -> Text:
    """A picture (height, width, 3) as text: each character is two pixels, one above the other."""
    height, width, _ = image.shape
    across = min(64, width)
    down = 2 * max(1, round(height * across / width / 2))
    small = image[np.arange(down) * height // down][:, np.arange(across) * width // across].tolist()
    text = Text(no_wrap=True)
    for upper, lower in zip(small[::2], small[1::2], strict=True):
        for above, below in zip(upper, lower, strict=True):
            text.append("▀", Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below)))
        text.append("\n")
    return text


def _captioned(image: Any, lines: Sequence[str]) -> Any:
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


def _gif(pictures: Sequence[Any]) -> bytes:
    """Pictures one after the other, the last one longer; all as tall as the tallest."""
    from PIL import ImageOps

    height = max(picture.height for picture in pictures)
    same = [ImageOps.pad(one, (one.width, height), color="white", centering=(0, 0)).quantize(96) for one in pictures]
    buffer = io.BytesIO()
    waits = [500] * (len(same) - 1) + [1800]
    same[0].save(buffer, format="GIF", save_all=True, append_images=same[1:], duration=waits, loop=0)
    return buffer.getvalue()


def _caption(machine: MooreMachine, shown: Played, number: int, names: tuple[str, ...]) -> list[str]:
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
    return [*lines, *_bars(shown.belief[0].tolist(), {true: "<- true"}, true)]


def _learned_states(trainer: Trainer, shown: Played) -> list[str]:
    """What the agent believes of the states of a machine that was learned, which are known by their potentials."""
    if shown.learned is None or trainer.inference is None or not trainer.inference.versions:
        return []
    notes = {state: f"potential {level:g}" for state, level in enumerate(trainer.inference.state_levels)}
    return _bars(shown.learned[0].tolist(), notes)


def _bars(shares: list[float], notes: dict[int, str], first: int | None = None) -> list[str]:
    """A line for each state with its share, or for the likeliest and the `first`, where there are many."""
    likeliest = sorted(range(len(shares)), key=lambda state: (state != first, -shares[state]))
    lines = []
    for state in sorted(likeliest[:12]):
        bar = "█" * round(shares[state] * 24)
        lines.append(f"  state {state:<3} {bar:<24} {shares[state]:4.0%} {notes.get(state, '')}".rstrip())
    return lines


def _ending(machine: MooreMachine, shown: Played | None) -> str:
    """How the episode ended."""
    if shown is None or not bool(shown.batch.terminated[0]):
        return "time limit reached"
    state = int(shown.state[0])
    if machine.accepting[state]:
        return "task satisfied"
    return "task violated" if machine.dead[state] else "the environment ended the episode; the task is still open"
