from .cells import CELL_FILE as CELL_FILE
from .engines import Engine as Engine, Event as Event, LocalEngine as LocalEngine, RayEngine as RayEngine
from .grid import Cell as Cell, Grid as Grid, Grids as Grids, paper_grid as paper_grid
from .grid_file import load_grid as load_grid
from .running import Outcome as Outcome, run_grid as run_grid
