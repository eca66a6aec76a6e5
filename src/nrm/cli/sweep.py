"""`nrm sweep`: a user's own grid of runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from nrm.cli.grid_options import GridOptions
from nrm.cli.options import UsageError


@dataclass(frozen=True)
class Sweep(GridOptions):
    """Run every combination that a grid file (TOML) lists: envs, tasks, methods, seeds and variants of settings.

    Interrupt it when you like; the same command goes on. Exit status 1 when a run failed; the others are done.
    """

    file: tyro.conf.Positional[Path | None] = None
    """The grid file."""

    def run(self) -> int:
        """Run the grid, and print its table."""
        if self.file is None:
            raise UsageError("no grid file is given; try: nrm sweep GRID.toml --out DIR")
        from nrm.sweeps.grid_file import load_grid

        return self.run_grid(load_grid(self.file))
