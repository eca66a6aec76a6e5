"""`nrm watch`: an episode of a trained agent, step by step."""

from __future__ import annotations

import io
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tyro
from rich.console import Console

from nrm.cli.options import UsageError
from nrm.errors import require
from nrm.files import write_bytes

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.agents.evaluation import Played
    from nrm.machines import MooreMachine

BAR = 24
"""Letters of a full bar."""
WORLD = 320
"""Pixels that the world takes of a moving picture."""


@dataclass(frozen=True)
class Watch:
    """Show one episode: the world, the belief over the machine's states, the predicted symbol and the true one."""

    run_folder: tyro.conf.Positional[Path]
    """The folder of the run."""
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
        from gymnasium.wrappers import RenderCollection

        from nrm.agents.evaluation import play
        from nrm.envs import VectorWorld
        from nrm.runs import RunFolder

        if self.gif is not None and self.gif.suffix.lower() != ".gif":
            raise UsageError(f"--gif writes a .gif file, not '{self.gif}'")
        torch.set_num_threads(1)
        folder = RunFolder(self.run_folder)
        trainer, config = folder.load_trained(), folder.config()
        machine = trainer.world.machine
        mode = "ansi" if self.gif is None else "rgb_array"
        env = config.world_kind.render(config.settings["world"], machine, mode, config.end)
        camera = RenderCollection(env, reset_clean=False)
        console = Console(highlight=False)
        frames: list[Any] = []
        for number, shown in enumerate(play(trainer, VectorWorld.of(lambda: camera, 1), self.seed, self.greedy), 1):
            done = bool(shown.done[0])
            picture = camera.render()[-2 if done else -1]  # the last one after an episode's end is of the next episode
            lines = _caption(trainer, machine, shown, number)
            if self.gif is None:
                console.print(picture, markup=False)
                console.print("\n".join(lines) + "\n", markup=False)
                time.sleep(self.delay if console.is_terminal else 0.0)
            else:
                frames.append(_captioned(picture, lines))
            if done:
                break
        if self.gif is not None:
            write_bytes(self.gif, _gif(frames))
            print(f"{len(frames)} steps: wrote {self.gif}")
        return 0


def _caption(trainer: Trainer, machine: MooreMachine, shown: Played, number: int) -> list[str]:
    """What happened at a step, and what the agent believes."""
    alphabet = machine.alphabet
    true = alphabet.letter_name(int(shown.label[0]))
    lines = [f"step {number}  reward {float(shown.batch.reward[0]):+g}  true symbol {true}"]
    if shown.said is not None:
        symbols = shown.said[0]
        lines[0] += f"  predicted {alphabet.letter_name(int(symbols.argmax()))} ({float(symbols.max()):.0%})"
    if not trainer.method.tracks_states:
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
