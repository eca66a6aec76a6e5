"""`nrm watch`: an episode of a trained agent, step by step."""

from __future__ import annotations

import io
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from nrm.cli.options import UsageError, formula_option
from nrm.errors import require
from nrm.files import write_bytes
from nrm.logic import DEFAULT_LOGIC

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.agents.evaluation import Played
    from nrm.machines import MooreMachine

BAR = 24
"""Letters of a full bar."""
COLUMNS = 64
"""Characters across of a picture in the terminal."""
WORLD = 320
"""Pixels that the world takes of a moving picture."""


@dataclass(frozen=True)
class Watch:
    """Show one episode: the world, the belief over the machine's states, the predicted symbol and the true one."""

    run_folder: tyro.conf.Positional[Path]
    """The folder of the run."""
    task: str | None = None
    """Of an agent of many tasks: the formula to obey, also one that it has never seen."""
    logic: str = DEFAULT_LOGIC
    """The language of that formula: ltlf, ldlf, ppltl (pure past), re (regular expressions), or module:name."""
    seed: int = 12345
    """Of the episode."""
    greedy: bool = False
    """Always take the best action instead of drawing from the policy."""
    delay: float = 0.4
    """Seconds between two steps in the terminal."""
    gif: Path | None = None
    """Write a moving picture here instead."""

    def run(self) -> int:
        """Play one episode."""
        import torch

        from nrm.agents.filming import action_names, film
        from nrm.runs import RunFolder

        if self.gif is not None and self.gif.suffix.lower() != ".gif":
            raise UsageError(f"--gif writes a .gif file, not '{self.gif}'")
        torch.set_num_threads(1)
        folder = RunFolder(self.run_folder)
        trainer, config = folder.load_trained(), folder.config()
        machine = trainer.world.machine
        if trainer.tasks is not None:
            if self.task is None:
                raise UsageError("the agent can obey many tasks; say which one: --task 'F(a & F b)'")
            machine = config.task_named(formula_option(self.task, self.logic) or self.task).machine()
        elif self.task is not None:
            raise UsageError(f"the agent in {self.run_folder} was trained on one task; drop --task")
        mode = "ansi" if self.gif is None else "rgb_array"
        env = config.world_kind.render(config.settings["world"], machine, mode, config.end)
        if self.gif is not None and env.render_mode != mode:
            raise UsageError(
                f"{config.world} does not render as '{mode}' (its render_mode is {env.render_mode!r}), so there is "
                "nothing to film; let what makes it take render_mode, or drop --gif"
            )
        console = Console(highlight=False)
        names = action_names(env)
        frames: list[Any] = []
        for number, (pictures, shown) in enumerate(film(trainer, env, self.seed, self.greedy), 1):
            picture = pictures[-1] if pictures else _observation(shown)
            lines = _caption(trainer, machine, shown, number, names)
            lines = lines if self.task is None else [self.task, *lines]
            if self.gif is None:
                _show(console, picture, lines)
                time.sleep(self.delay if console.is_terminal else 0.0)
            else:
                frames.append(_captioned(picture, lines))
        if self.gif is not None:
            write_bytes(self.gif, _gif(frames))
            print(f"{len(frames)} steps: wrote {self.gif}")
        return 0


def _observation(shown: Played) -> str:
    """What the agent sees, for worlds that draw nothing."""
    seen = shown.batch.final_observation[0].numpy()
    return f"observation {seen}" if seen.ndim < 2 else f"observation of shape {seen.shape}"


def _show(console: Console, picture: Any, lines: list[str]) -> None:
    """One step in the terminal: a text as it is, pixels as coloured blocks where there are colours."""
    if isinstance(picture, str):
        console.print(picture, markup=False)
    elif console.is_terminal:
        console.print(blocks(np.asarray(picture)))
    console.print("\n".join(lines) + "\n", markup=False)


def blocks(image: NDArray[np.uint8], columns: int = COLUMNS) -> Text:
    """A picture (height, width, 3) as text: each character is two pixels, one above the other."""
    height, width, _ = image.shape
    across = min(columns, width)
    down = 2 * max(1, round(height * across / width / 2))
    rows, places = np.arange(down) * height // down, np.arange(across) * width // across
    small = image[rows][:, places].tolist()
    text = Text(no_wrap=True)
    for upper, lower in zip(small[::2], small[1::2], strict=True):
        for above, below in zip(upper, lower, strict=True):
            text.append("▀", Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below)))
        text.append("\n")
    return text


def _caption(trainer: Trainer, machine: MooreMachine, shown: Played, number: int, names: tuple[str, ...]) -> list[str]:
    """What happened at a step, and what the agent believes."""
    alphabet = machine.alphabet
    true = alphabet.letter_name(int(shown.label[0]))
    action = f"  {names[int(shown.action[0])]}" if names and shown.action.dim() == 1 else ""
    lines = [f"step {number}{action}  reward {float(shown.batch.reward[0]):+g}  true symbol {true}"]
    if shown.said is not None:
        symbols = shown.said[0]
        lines[0] += f"  predicted {alphabet.letter_name(int(symbols.argmax()))} ({float(symbols.max()):.0%})"
    if not trainer.method.tracks_states or trainer.tasks is not None:
        return lines
    for state, share in enumerate(shown.memory[0].tolist()):
        mark = " <- true" if state == int(shown.state[0]) else ""
        lines.append(f"  state {state:<3} {'█' * round(share * BAR):<{BAR}} {share:4.0%}{mark}")
    return lines


def _captioned(image: Any, lines: list[str]) -> Any:
    """The world with its caption below, as an image."""
    require("PIL", "moving pictures need pillow", "render")
    from PIL import Image, ImageDraw, ImageFont, ImageOps

    world = ImageOps.contain(Image.fromarray(np.asarray(image)), (WORLD, WORLD), Image.Resampling.NEAREST)
    canvas = Image.new("RGB", (460, WORLD + 18 * len(lines) + 12), "white")
    canvas.paste(world, ((canvas.width - world.width) // 2, (WORLD - world.height) // 2))
    text = "\n".join(lines).replace("█", "|")
    ImageDraw.Draw(canvas).text((8, WORLD + 6), text, fill="black", font=ImageFont.load_default(size=13))
    return canvas


def _gif(pictures: list[Any]) -> bytes:
    buffer = io.BytesIO()
    first, *rest = [picture.convert("P") for picture in pictures]
    first.save(buffer, format="GIF", save_all=True, append_images=rest, duration=500, loop=0)
    return buffer.getvalue()
