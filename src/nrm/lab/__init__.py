"""Runs: their configuration, their folders, grids of them, and what comes out of them."""

from nrm.lab.choices import choose_run, choose_task, choose_world, task_on_world
from nrm.lab.config import WORLDS, RunConfig, run_config, with_settings
from nrm.lab.grid import Cell, Grid, paper_grid
from nrm.lab.grid_file import load_grid
from nrm.lab.records import Record, read_record, read_records
from nrm.lab.results import ResultRow, results_csv, results_markdown, results_table, write_results
from nrm.lab.run import RunFolder, new_trainer, train
from nrm.lab.running import Outcome, run_grid
from nrm.lab.worlds import WorldConfig, build_world, rendered_env, world_name

__all__ = [
    "WORLDS",
    "Cell",
    "Grid",
    "Outcome",
    "Record",
    "ResultRow",
    "RunConfig",
    "RunFolder",
    "WorldConfig",
    "build_world",
    "choose_run",
    "choose_task",
    "choose_world",
    "load_grid",
    "new_trainer",
    "paper_grid",
    "read_record",
    "read_records",
    "rendered_env",
    "results_csv",
    "results_markdown",
    "results_table",
    "run_config",
    "run_grid",
    "task_on_world",
    "train",
    "with_settings",
    "world_name",
    "write_results",
]
