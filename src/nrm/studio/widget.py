"""The player in notebooks: the page with one episode, in a frame of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nrm.errors import NrmError, require
from nrm.report import page_part
from nrm.runs import LoadedRun, load_run
from nrm.studio.recorded import SEED, recorded_page
from nrm.studio.watching import formulas_for

require("anywidget", "players in notebooks need a widget", "notebook")

import anywidget  # noqa: E402
import traitlets  # noqa: E402


class Player(anywidget.AnyWidget):
    """An agent that executes a formula; both can be changed, here and in the notebook."""

    _esm = page_part("widget.js", "nrm.studio")
    formula = traitlets.Unicode().tag(sync=True)
    seed = traitlets.Int(SEED).tag(sync=True)
    many = traitlets.Bool(True).tag(sync=True)
    page = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)

    def __init__(self, run: LoadedRun, formula: str, seed: int) -> None:
        self._run = run
        super().__init__(formula=formula, seed=seed, many=run.config.about.zero_shot)
        self.observe(self._play, ["formula", "seed"])
        self._play()

    def _play(self, _: Any = None) -> None:
        try:
            shown = recorded_page({"agent": self._run}, [self.formula], title="", seed=self.seed, tested=0)
        except NrmError as error:
            self.problem = str(error)
        else:
            self.set_trait("problem", "")
            self.page = shown


def player(run: LoadedRun | Path | str, task: str | None = None, *, seed: int = SEED, trust: bool = False) -> Player:
    """Watch an agent in a notebook.

    Args:
        run: a loaded run, its folder, or the name of a pretrained agent.
        task: agents of many tasks: the formula. Default: one that it was not trained on.
        seed: seed of the layout and of the episode.
        trust: import the modules that the run names (module:name).

    """
    loaded = run if isinstance(run, LoadedRun) else load_run(run, trust=trust)
    config = loaded.config
    if task is not None:
        config.about.chosen(loaded.trainer, config, task)
    examples = [*formulas_for(config, 1), config.about.title]
    return Player(loaded, task or examples[0], seed)
