"""The page without a server: it shows episodes that were recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nrm.aliases import Json
from nrm.logic import DEFAULT_LOGIC
from nrm.report import Tiles
from nrm.runs import LoadedRun, load_run
from nrm.studio.page import studio_page
from nrm.studio.watching import agent_data, formulas_for, recorded, success_of, task_for

SEED = 1
"""Of the first episode; the others count on."""


def recorded_page(
    agents: Mapping[str, LoadedRun] | Sequence[str] = ("letter", "layouts", "flat"),
    formulas: Sequence[str] | int = 20,
    *,
    title: str = "Watch an agent",
    seed: int = SEED,
    tested: int = 100,
) -> str:
    """One HTML text with episodes of each agent: of so many unseen formulas, or of those that are given.

    `agents`: names for `load_run`, or loaded runs by name. `tested`: episodes of each formula in which success is
    counted; 0 for none.
    """
    runs = agents if isinstance(agents, Mapping) else {name: load_run(name) for name in agents}
    tiles, episodes = Tiles(), {}
    for name, run in runs.items():
        texts = formulas_for(run.config, formulas) if isinstance(formulas, int) else formulas
        texts = texts or [run.config.about.title]
        episodes[name] = [_entry(run, text, seed + number, tested, tiles) for number, text in enumerate(texts)]
    known = [agent_data(name, run.config) for name, run in runs.items()]
    data = {"recorded": {"agents": known, "episodes": episodes}, "tiles": list(tiles.images)}
    return studio_page(title, data)


def _entry(run: LoadedRun, text: str, seed: int, tested: int, tiles: Tiles) -> Json:
    asked = task_for(run, text, DEFAULT_LOGIC)
    success = success_of(run, asked, seed, tested) if tested else None
    return {"text": text, "success": success, **recorded(run, asked, seed, tiles)}
