"""The main job, small: train RM, NRM and RNN on one task, and write a page that shows what NRM learned.

No label is ever given to NRM. It learns what a pickaxe is from rewards alone, up to the shortcuts that no reward can
remove; the page shows the task's machine, those shortcuts, the learning curves, and the grounding beside the truth.
"""

from __future__ import annotations

import base64
import html
import io
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
import tyro

import nrm
from nrm.agents import METHODS, Trainer, preset
from nrm.envs import MINECRAFT_SYMBOLS, BatchedMinecraft, MinecraftConfig
from nrm.machines import render

COLOURS = {"rm": "#0072B2", "nrm": "#D55E00", "rnn": "#009E73"}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { font-size: 1.15rem; margin-top: 2rem; border-top: 1px solid #ccc; padding-top: 1rem; }
img, svg { max-width: 100%; height: auto; }
code { background: #f2f2f2; padding: 0.1rem 0.3rem; }
.maps { display: flex; gap: 2rem; flex-wrap: wrap; }
table { border-collapse: collapse; } td { border: 1px solid #999; width: 5rem; height: 3.2rem; text-align: center; }
td.right { background: #dcebf7; } td.wrong { background: #fbe3d0; } caption { font-weight: bold; padding: 0.4rem; }
"""


@dataclass(frozen=True)
class Config:
    """Train on one task and show the result."""

    task: str = "visit(pickaxe, lava) & global_avoidance(door)"
    """A formula over the world's symbols: pickaxe, lava, door, gem, empty."""
    episodes: int = 1500
    """Episodes of each method."""
    seeds: int = 2
    """Runs of each method."""
    out: Path = Path("out/demo")
    """The folder for the page."""


def curves(runs: dict[str, list[Trainer]]) -> str:
    """The learning curves as a picture in a page."""
    figure, axes = plt.subplots(figsize=(8, 3.6), dpi=110)
    for method, trainers in runs.items():
        returns = np.array([trainer.history.returns for trainer in trainers])
        window = np.ones(50) / 50
        smooth = np.array([np.convolve(row, window, mode="valid") for row in returns])
        episodes = np.arange(50, 50 + smooth.shape[1])
        axes.plot(episodes, smooth.mean(0), color=COLOURS[method], label=method.upper())
        axes.fill_between(episodes, smooth.min(0), smooth.max(0), color=COLOURS[method], alpha=0.2)
    axes.set(xlabel="episode", ylabel="return (mean of 50)")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    plt.close(figure)
    return f'<img alt="learning curves" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">'


def grounding(trainer: Trainer) -> str:
    """What NRM takes each cell for, beside what is there."""
    world, model = trainer.world, trainer.model
    labels = world.true_labels()
    assert model is not None
    assert world.frames is not None
    assert labels is not None
    with torch.no_grad():
        predicted = model.letter_probs(model.ground(world.frames)).argmax(-1)
    names = world.machine.alphabet.symbols
    side = 4

    def table(title: str, letters: torch.Tensor) -> str:
        rows = []
        for y in range(side):
            cells = []
            for x in range(side):
                cell = y * side + x
                right = "right" if int(letters[cell]) == int(labels[cell]) else "wrong"
                cells.append(f'<td class="{right}">{html.escape(names[int(letters[cell])])}</td>')
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table><caption>{title}</caption>{''.join(rows)}</table>"

    return f'<div class="maps">{table("what is there", labels)}{table("what NRM learned", predicted)}</div>'


def main(config: Config) -> None:
    """Train, and write the page."""
    torch.set_num_threads(1)
    machine = nrm.compile(config.task, MINECRAFT_SYMBOLS)
    agent = replace(preset("default"), episodes=config.episodes)
    runs: dict[str, list[Trainer]] = {}
    for method in METHODS:
        for seed in range(config.seeds):
            world = BatchedMinecraft(MinecraftConfig(), machine, agent.environments)
            trainer = Trainer(world, method, agent, seed)
            trainer.run()
            runs.setdefault(method, []).append(trainer)
            accuracy = trainer.accuracy()
            note = f", grounding {accuracy.modulo_shortcuts:.0%} modulo shortcuts" if accuracy else ""
            print(f"{method:<4} seed {seed}: mean return of the last 100 {trainer.history.mean_return():6.1f}{note}")
    found = nrm.shortcuts(machine)
    learned = runs["nrm"][0]
    accuracy = learned.accuracy()
    assert accuracy is not None
    verdicts = "".join(
        f"<li><b>{html.escape(verdict.symbol)}</b>: "
        + ("rewards can teach it" if verdict.groundable else f"confusable with {', '.join(verdict.confusable_with)}")
        + "</li>"
        for verdict in found.verdicts
    )
    page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Neural reward machine</title>
<style>{STYLE}</style>
<h1>A neural reward machine learns what its symbols mean</h1>
<p>Task: <code>{html.escape(config.task)}</code>. The agent sees its position and rewards, and is never told what a
pickaxe is.</p>
<h2>The task as a machine</h2>{render(machine, "svg").decode().split("?>", 1)[-1]}
<h2>What rewards can teach</h2>
<p>{found.count} of {len(MINECRAFT_SYMBOLS) ** len(MINECRAFT_SYMBOLS):,} ways to read the symbols give the same rewards,
{found.symmetries} up to symbols that this task treats alike.</p><ul>{verdicts}</ul>
<h2>Learning</h2>{curves(runs)}
<p>RM is given the true symbols, NRM the task only, RNN neither. Bands span {config.seeds} seeds.</p>
<h2>The grounding</h2>{grounding(learned)}
<p>{accuracy.plain:.0%} of the cells carry their true name, {accuracy.modulo_shortcuts:.0%} do modulo shortcuts: where
the two differ, the task itself cannot tell the names apart.</p></html>"""
    config.out.mkdir(parents=True, exist_ok=True)
    (config.out / "index.html").write_text(page, encoding="utf-8")
    where = config.out / "index.html"
    print(f"\nOpen {where}: the machine, what rewards can teach, the curves and the learned grounding.")


if __name__ == "__main__":
    main(tyro.cli(Config))
