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
from nrm.errors import MissingExtraError
from nrm.files import write_bytes

if TYPE_CHECKING:
    from nrm.agents import Trainer
    from nrm.agents.evaluation import Played
    from nrm.machines import MooreMachine

BAR = 24


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

        from nrm.agents.evaluation import play
        from nrm.envs import VectorWorld
        from nrm.runs import RunFolder

        torch.set_num_threads(1)
        folder = RunFolder(self.run_folder)
        trainer, config = folder.load(), folder.config()
        machine = trainer.world.machine
        mode = "ansi" if self.gif is None else "rgb_array"
        if self.gif is not None and self.gif.suffix.lower() != ".gif":
            raise UsageError(f"--gif writes a .gif file, not '{self.gif}'")
        camera = _camera(config.world_kind.render(config.settings["world"], machine, mode, config.end))
        world = VectorWorld.of(lambda: camera, 1)
        console = Console(highlight=False)
        frames: list[Any] = []
        shown_steps = play(trainer, world, self.seed, self.greedy)
        for number, shown in enumerate(shown_steps, 1):
            lines = _caption(trainer, machine, shown, number)
            if self.gif is None:
                console.print(camera.picture, markup=False)
                console.print("\n".join(lines) + "\n", markup=False)
                time.sleep(self.delay if console.is_terminal else 0.0)
            else:
                frames.append(_picture(camera.picture, lines))
            if bool(shown.done[0]):
                break
        if self.gif is not None:
            write_bytes(self.gif, _gif(frames))
            print(f"{len(frames)} steps: wrote {self.gif}")
        return 0


def _camera(env: Any) -> Any:
    """The environment with a `picture` of its last step, which a reset does not wipe away."""
    import gymnasium

    class Camera(gymnasium.Wrapper[Any, Any, Any, Any]):
        picture: Any = None

        def step(self, action: Any) -> Any:
            result = self.env.step(action)
            self.picture = self.env.render()
            return result

    return Camera(env)


def _caption(trainer: Trainer, machine: MooreMachine, shown: Played, number: int) -> list[str]:
    """What happened at a step, and what the agent believes."""
    alphabet = machine.alphabet
    true = alphabet.letter_name(int(shown.label[0]))
    lines = [f"step {number}  reward {float(shown.batch.reward[0]):+g}  true symbol {true}"]
    if trainer.model is not None:
        import torch

        with torch.no_grad():
            symbols = trainer.model.letter_probs(trainer.model.ground(shown.batch.final_observation, check=False))[0]
        lines[0] += f"  predicted {alphabet.letter_name(int(symbols.argmax()))} ({float(symbols.max()):.0%})"
    if not trainer.method.tracks_states:
        return lines
    for state, share in enumerate(shown.memory[0].tolist()):
        mark = " <- true" if state == int(shown.state[0]) else ""
        lines.append(f"  state {state:<3} {'█' * round(share * BAR):<{BAR}} {share:4.0%}{mark}")
    return lines


def _picture(image: Any, lines: list[str]) -> Any:
    """The world with its caption below, as an image."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingExtraError("moving pictures need pillow: pip install 'neural-reward-machines[render]'") from None
    height, width = np.asarray(image).shape[:2]
    size = (320 * width // max(width, height), 320 * height // max(width, height))
    world = Image.fromarray(np.asarray(image)).resize(size, Image.Resampling.NEAREST)
    font = ImageFont.load_default(size=13)
    canvas = Image.new("RGB", (max(320, 460), 320 + 18 * len(lines) + 12), "white")
    canvas.paste(world, ((canvas.width - size[0]) // 2, (320 - size[1]) // 2))
    draw = ImageDraw.Draw(canvas)
    for row, line in enumerate(lines):
        draw.text((8, 326 + 18 * row), line.replace("█", "|"), fill="black", font=font)
    return canvas


def _gif(pictures: list[Any]) -> bytes:
    buffer = io.BytesIO()
    first, *rest = [picture.convert("P") for picture in pictures]
    first.save(buffer, format="GIF", save_all=True, append_images=rest, duration=500, loop=0)
    return buffer.getvalue()
