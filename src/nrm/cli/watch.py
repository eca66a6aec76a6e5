"""`nrm watch`: an episode of a trained agent, step by step."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from rich.console import Console

from nrm.cli.arguments import Folder, Mark, UsageError
from nrm.cli.film import Wish, blocks, captioned, gif, shades, wish_line, wishes
from nrm.cli.learned import LearnedSymbols, learned_lines
from nrm.cli.options import Formula, Logic, formula_option
from nrm.errors import listing
from nrm.files import write_bytes
from nrm.logic import DEFAULT_LOGIC

if TYPE_CHECKING:
    from nrm.agents import Played, Trainer
    from nrm.machines import MooreMachine

BAR = 24
"""Letters of a full bar."""
MAX_STATES = 12
"""States of a machine that are listed, the true one and the likeliest."""


@dataclass(frozen=True)
class Watch:
    """Show one episode: the environment, the belief over the machine's states, the predicted symbol and the true one.

    Of a run that learned its machine, the states are those of the learned one, each with its potential, and what is
    read at each step is told with the symbol that was learned of it.

    For example:
      nrm watch runs/gem
      nrm watch runs/gem --gif gem.gif
      nrm watch runs/letters --task "F(a & (!b U c)) & F d"
    """

    run_folder: Folder
    """The folder of the run."""
    task: Formula = None
    """Of an agent of many tasks: the formula to execute, also one that it has never seen."""
    logic: Logic = DEFAULT_LOGIC
    """The language of that formula: ltlf, ldlf, ppltl (pure past), re (regular expressions), or module:name."""
    seed: int = 12345
    """Of the episode."""
    greedy: bool = False
    """Always take the best action instead of drawing from the policy."""
    delay: float = 0.4
    """Seconds between two steps in the terminal."""
    gif: Annotated[Path | None, Mark("FILE.gif")] = None
    """Write a moving picture here instead."""

    def run(self) -> int:
        """Play one episode."""
        import torch

        from nrm.agents import action_names, check_new_tasks, film
        from nrm.machines import TaskSet
        from nrm.runs import RunFolder

        if self.gif is not None and self.gif.suffix.lower() != ".gif":
            raise UsageError(f"--gif writes a .gif file, not '{self.gif}'")
        torch.set_num_threads(1)
        folder = RunFolder(self.run_folder)
        trainer, config = folder.load_policy(), folder.config()
        machine = trainer.env.machine
        if trainer.tasks is not None:
            if self.task is None:
                raise UsageError(
                    f"the agent executes many tasks; say which one, over {listing(machine.alphabet.symbols)}: --task "
                    f"'F {machine.alphabet.symbols[0]}'"
                )
            machine = config.task_named(formula_option(self.task, self.logic) or self.task).machine()
            check_new_tasks(trainer, TaskSet((machine,), (self.task,)))
        elif self.task is not None:
            raise UsageError(f"the agent in {self.run_folder} was trained on one task; drop --task")
        mode = "ansi" if self.gif is None else "rgb_array"
        env = config.env_config.render(machine, mode, config.end)
        if self.gif is not None and env.render_mode != mode:
            raise UsageError(
                f"{config.env} does not render as '{mode}' (its render_mode is {env.render_mode!r}), so there is "
                "nothing to film; let what makes it take render_mode, or drop --gif"
            )
        symbols = None if trainer.inference is None else LearnedSymbols.of(trainer.inference)
        console = Console(highlight=False)
        names = action_names(env)
        inference = trainer.inference
        levels = inference.state_levels if inference is not None and inference.versions else None
        frames: list[Any] = []
        shown = None
        if symbols is not None:
            console.print(f"{symbols.legend()}\n", markup=False)
        played = film(trainer, env, self.seed, self.greedy, name=config.env)
        for number, (pictures, shown) in enumerate(played, 1):
            if self.gif is not None and not pictures:
                raise UsageError(f"{config.env} draws nothing, so there is nothing to film; drop --gif")
            picture = pictures[-1] if pictures else _observation(shown)
            lines = _caption(machine, shown, number, names)
            if symbols is not None and shown.read is not None:
                lines[0] += f"  read {symbols.said(int(shown.read[0]))}"
            lines += _learned_states(shown, levels)
            lines = lines if self.task is None else [self.task, *lines]
            sees = _sees(trainer, machine, shown)
            if self.gif is None:
                _show(console, picture, [*lines, *([f"  {wish_line(sees)}"] if sees else [])])
                time.sleep(self.delay if console.is_terminal else 0.0)
            else:
                frames.append(captioned(picture, lines, sees))
        if self.gif is not None:
            write_bytes(self.gif, gif(frames))
            print(f"{len(frames)} steps, {_ending(machine, shown)}: wrote {self.gif}")
        else:
            console.print(_ending(machine, shown), markup=False)
        if (learned := folder.machines()) is not None:
            console.print("\n".join(learned_lines(learned, len(trainer.history.returns))), markup=False)
        return 0


def _observation(shown: Played) -> str:
    """What the agent sees, for environments that draw nothing."""
    seen = shown.batch.final_observation[0].numpy()
    return f"observation {seen}" if seen.ndim < 2 else f"observation of shape {seen.shape}"


def _show(console: Console, picture: Any, lines: list[str]) -> None:
    """One step in the terminal: a text as it is, pixels as coloured blocks, or as shades where there are no colours."""
    if isinstance(picture, str):
        console.print(picture, markup=False)
    elif console.is_terminal:
        console.print(blocks(np.asarray(picture)))
    else:
        console.print(shades(np.asarray(picture)), markup=False)
    console.print("\n".join(lines) + "\n", markup=False)


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


def _learned_states(shown: Played, levels: list[float] | None) -> list[str]:
    """What the agent believes of the states of a machine that was learned, which are known by their potentials."""
    if shown.learned is None or levels is None:
        return []
    notes = {state: f"potential {level:g}" for state, level in enumerate(levels)}
    return _bars(shown.learned[0].tolist(), notes)


def _bars(shares: list[float], notes: dict[int, str], first: int | None = None) -> list[str]:
    """A line for each state with its share, or for the likeliest and the `first`, where there are many."""
    listed = list(range(len(shares)))
    if len(shares) > MAX_STATES:
        listed = sorted(sorted(listed, key=lambda state: (state != first, -shares[state]))[:MAX_STATES])
    bars = (f"  state {state:<3} {'█' * round(shares[state] * BAR):<{BAR}} {shares[state]:4.0%}" for state in listed)
    return [f"{bar} {notes.get(state, '')}".rstrip() for state, bar in zip(listed, bars, strict=True)]


def _sees(trainer: Trainer, machine: MooreMachine, shown: Played) -> list[Wish]:
    """What the policy of an agent of many tasks sees of its task; nothing where it follows no machine."""
    many = trainer.tasks is not None and shown.belief is not None
    return wishes(machine, shown.memory[0].tolist()) if many else []


def _ending(machine: MooreMachine, shown: Played | None) -> str:
    """How the episode ended."""
    if shown is None or not bool(shown.batch.terminated[0]):
        return "the time is up"
    state = int(shown.state[0])
    if machine.accepting[state]:
        return "the task is done"
    return (
        "the task is lost" if machine.dead[state] else "the environment has ended the episode, the task is still open"
    )
