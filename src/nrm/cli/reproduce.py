"""`nrm reproduce`: the paper's experiments with one command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nrm.cli.grid_finish import INTERRUPTED, groundability
from nrm.cli.grid_options import GridOptions

ENVS = {"map": ("map",), "image": ("image",), "both": ("map", "image")}
QUICK_EPISODES, QUICK_SEEDS = 1000, (0, 1)


@dataclass(frozen=True)
class Reproduce(GridOptions):
    """Run the paper: 8 tasks x 3 methods x 5 seeds x 10,000 episodes in both environments, and its groundability table.

    Interrupt it when you like; the same command goes on. Exit status 1 when a run failed; the others are done.
    """

    quick: bool = False
    """A small version, for minutes: the map environment, 2 seeds, 1,000 episodes. Other options add to it again."""
    env: Literal["map", "image", "both"] | None = None
    """Which environments; both, and with --quick the map."""
    tasks: tuple[str, ...] = ("1", "2", "3", "4", "5", "6", "7", "8")
    """Which tasks: 1 to 8, names, formulas or task files."""
    methods: tuple[str, ...] = ("rm", "nrm", "rnn")
    """Which methods."""
    seeds: tuple[int, ...] | None = None
    """Which seeds; 0 to 4, and with --quick 0 and 1."""
    total_episodes: int | None = None
    """Episodes of each run; 10,000, and with --quick 1,000."""
    recipe: str = "auto"
    """The settings to start from: auto (ours) or paper (its hyper-parameters)."""

    def run(self) -> int:
        """Run the grid, and write what the paper shows."""
        from nrm.sweeps.grid import paper_grid

        episodes = self.total_episodes if self.total_episodes is not None else QUICK_EPISODES if self.quick else 10_000
        seeds = self.seeds if self.seeds is not None else QUICK_SEEDS if self.quick else (0, 1, 2, 3, 4)
        envs = ENVS[self.env or ("map" if self.quick else "both")]
        grid = paper_grid(envs, self.tasks, self.methods, seeds, episodes, self.recipe)
        if self.quick:
            print(_left_out(envs, seeds, episodes, len(self.tasks)))
        status = self.run_grid(grid)
        if self.out is not None and status != INTERRUPTED:
            groundability(self.out / "groundability", budget=0.2 if self.quick else 60.0)
        return status


def _left_out(envs: tuple[str, ...], seeds: tuple[int, ...], episodes: int, tasks: int) -> str:
    missing = [f"{len(seeds)} of the paper's 5 seeds", f"{episodes:,} of its 10,000 episodes"]
    if envs != ENVS["both"]:
        missing.append(f"the {envs[0]} environment only")
    if tasks != 8:
        missing.append(f"{tasks} tasks, not its 8")
    return f"a quick version: {', '.join(missing)}"
