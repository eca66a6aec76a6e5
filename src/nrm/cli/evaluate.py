"""`nrm evaluate`: what a trained agent reaches."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from nrm.cli.options import UsageError
from nrm.cli.terminal import plain_console, table

if TYPE_CHECKING:
    from nrm.agents.evaluation import Evaluation

Figures = dict[str, float | None]
"""What is printed of an evaluation, by name."""


@dataclass(frozen=True)
class Evaluate:
    """Play episodes with a trained agent, always taking its best action and by drawing from its policy."""

    run_folder: tyro.conf.Positional[Path]
    """The folder of the run."""
    episodes: int = 100
    """How many episodes to play, of each kind."""
    seed: int = 12345
    """Of the episodes; not a seed of training."""
    json: bool = False
    """Print JSON: the fields of the greedy policy, and those of the sampled one under "sampled"."""

    def run(self) -> int:
        """Play and print."""
        import torch

        from nrm.agents.evaluation import evaluate
        from nrm.runs import RunFolder

        if self.episodes < 1:
            raise UsageError(f"--episodes must be at least 1, not {self.episodes}")
        torch.set_num_threads(1)
        folder = RunFolder(self.run_folder)
        trainer, config = folder.load_trained(), folder.config()
        greedy, sampled = (
            evaluate(trainer, config.build_world(min(16, self.episodes)), self.episodes, self.seed, greedy=best)
            for best in (True, False)
        )
        note = trainer.meter.note
        left, right = (_figures(found, modulo=not note) for found in (greedy, sampled))
        if self.json:
            print(json.dumps({**left, "sampled": right}))
        else:
            _print_table(left, right)
        if note:
            print(f"nrm: {note}", file=sys.stderr)
        return 0


def _figures(found: Evaluation, modulo: bool) -> Figures:
    """The numbers of an evaluation; those modulo shortcuts only where they are known."""
    grounding, borders = found.grounding, found.borders
    figures: Figures = {
        "episodes": found.episodes,
        "mean_return": found.mean_return,
        "success_rate": found.success_rate,
        "mean_length": found.mean_length,
        "state_accuracy": found.state_accuracy,
        "state_accuracy_modulo_shortcuts": found.state_accuracy_modulo_shortcuts if modulo else None,
        "grounding_accuracy": grounding.plain if grounding else None,
        "grounding_accuracy_modulo_shortcuts": grounding.modulo_shortcuts if grounding and modulo else None,
    }
    if borders is not None:
        figures["accuracy_near_borders"], figures["accuracy_far_from_borders"] = borders.near, borders.far
    return figures


def _print_table(greedy: Figures, sampled: Figures) -> None:
    rows = []
    for key in greedy:
        share = key == "success_rate" or "accuracy" in key
        cells = (
            "-" if value is None else f"{value:{'.1%' if share else 'g'}}" for value in (greedy[key], sampled[key])
        )
        rows.append((key.replace("_", " "), *cells))
    plain_console().print(table(("", "greedy", "sampled"), rows, numbers=("greedy", "sampled")))
