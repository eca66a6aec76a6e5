"""Grids of runs, and the engines that train them."""

from nrm.sweeps.grid import Grid, Grids, paper_grid
from nrm.sweeps.grid_file import load_grid
from nrm.sweeps.running import Outcome, run_grid

__all__ = ["Grid", "Grids", "Outcome", "load_grid", "paper_grid", "run_grid"]
