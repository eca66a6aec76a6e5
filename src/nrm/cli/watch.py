"""`nrm watch`: an episode of a trained agent, step by step."""

from __future__ import annotations

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
from nrm.cli.options import AgentOptions, OutOption
from nrm.cli.terminal import plain_console, say
from nrm.errors import counted, listing
from nrm.files import write_bytes
from nrm.report import bars, caption, captioned, ending, gif, observed

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
        from nrm.machines import Rounds
        from nrm.runs import find_run

        if self.out is not None and self.out.suffix.lower() != ".gif":
            raise UsageError(f"--out takes a .gif file, not '{self.out}'")
        torch.set_num_threads(1)
        folder = find_run(self.folder)
        trainer, config = folder.load_policy(), folder.config()
        tasks = config.about.chosen(trainer, config, self.task_text)
        machine, rounds = tasks.union, 0
        mode = "ansi" if self.out is None else "rgb_array"
        env = config.render_env(tasks, mode)
        if self.out is not None and env.render_mode != mode:
            raise UsageError(f"{config.env} does not render as '{mode}', but as {env.render_mode!r}; drop --out")
        symbols = None if trainer.inference is None else LearnedSymbols.of(trainer.inference)
        console = plain_console()
        names = action_names(env)
        frames: list[Any] = []
        shown = None
        if symbols is not None:
            console.print(f"{symbols.legend()}\n")
        played = film(trainer, env, self.seed, greedy=False, name=config.env)
        for number, (pictures, shown) in enumerate(played, 1):
            if self.out is not None and not pictures:
                raise UsageError(f"{config.env} renders no images; drop --out")
            lines = caption(machine, shown, number, names)
            if symbols is not None and shown.read is not None:
                lines[0] += f"  read {symbols.said(int(shown.read[0]))}"
            lines += _learned_states(trainer, shown)
            if isinstance(tasks, Rounds):
                rounds += bool(machine.accepting[int(shown.state[0])])
                lines.append(f"  {counted(rounds, 'round')} so far")
            # Of a task that is over the encoding says nothing: it is that of tasks that go on.
            encoded = shown.belief is not None and shown.memory.shape[-1] == 4 * machine.alphabet.size + 1
            if encoded and not bool(shown.done[0]):
                lines.append(f"  {wish_line(machine, shown.memory[0].tolist())}")
            lines = lines if self.task is None else [self.task, *lines]
            if self.out is None:
                _show(console, pictures[-1] if pictures else observed(shown), lines)
            else:
                frames.append(captioned(pictures[-1], lines))
        if self.out is not None:
            write_bytes(self.out, gif(frames))
            say(f"{len(frames)} steps, {ending(machine, shown)}: wrote {self.out}")
        else:
            console.print(ending(machine, shown))
        if (learned := folder.machines()) is not None:
            console.print("\n".join(learned_lines(learned, len(trainer.history.returns))))
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


def _show(console: Console, picture: Any, lines: list[str]) -> None:
    """One step in the terminal: a text as it is, pixels as coloured blocks where somebody looks at them."""
    if isinstance(picture, str):
        console.print(Text.from_ansi(picture))
    elif console.is_terminal:
        console.print(_blocks(np.asarray(picture)))
    console.print("\n".join(lines) + "\n")
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


def _learned_states(trainer: Trainer, shown: Played) -> list[str]:
    """What the agent believes of the states of a machine that was learned, which are known by their potentials."""
    if shown.learned is None or trainer.inference is None or not trainer.inference.versions:
        return []
    notes = {state: f"potential {level:g}" for state, level in enumerate(trainer.inference.state_levels)}
    return bars(shown.learned[0].tolist(), notes)
