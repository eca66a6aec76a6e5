from .cells import CELL_FILE as CELL_FILE
from .expansion import Cell as Cell
from .engines import Engine as Engine, Event as Event, LocalEngine as LocalEngine, RayEngine as RayEngine
from .grid import PAPER_LISTS as PAPER_LISTS, Grid as Grid
from .grid_file import load_grid as load_grid
from .running import Outcome as Outcome, run_grid as run_grid
