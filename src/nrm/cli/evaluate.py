"""`nrm evaluate`: what a trained agent reaches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from nrm.cli.options import UsageError

if TYPE_CHECKING:
    from nrm.agents.evaluation import Evaluation


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
        trainer = folder.load()
        config = folder.config()
        greedy, sampled = (
            evaluate(trainer, config.build_world(min(16, self.episodes)), self.episodes, self.seed, greedy=best)
            for best in (True, False)
        )
        if self.json:
            print(json.dumps({**_as_dict(greedy), "sampled": _as_dict(sampled)}))
        else:
            _print_table(greedy, sampled)
        return 0


def _as_dict(found: Evaluation) -> dict[str, object]:
    grounding = found.grounding
    return {
        "episodes": found.episodes,
        "mean_return": found.mean_return,
        "success_rate": found.success_rate,
        "mean_length": found.mean_length,
        "state_accuracy": found.state_accuracy,
        "state_accuracy_modulo_shortcuts": found.state_accuracy_modulo_shortcuts,
        "grounding_accuracy": None if grounding is None else grounding.plain,
        "grounding_accuracy_modulo_shortcuts": None if grounding is None else grounding.modulo_shortcuts,
    }


def _print_table(greedy: Evaluation, sampled: Evaluation) -> None:
    table = Table(box=SIMPLE_HEAD)
    for heading in ("", "greedy", "sampled"):
        table.add_column(heading, justify="right" if heading else "left")
    left, right = _as_dict(greedy), _as_dict(sampled)
    for key in left:
        cells = []
        for value in (left[key], right[key]):
            share = key == "success_rate" or "accuracy" in key
            cells.append("-" if value is None else f"{value:.1%}" if share else f"{value:g}")
        table.add_row(key.replace("_", " "), *cells)
    Console(highlight=False).print(table)
