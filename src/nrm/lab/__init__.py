"""Runs: their configuration, their folders, and what comes out of them."""

from nrm.lab.choices import choose_run, choose_world, task_on_world
from nrm.lab.config import WORLDS, RunConfig, run_config, with_settings
from nrm.lab.records import Record, read_record, read_records
from nrm.lab.results import ResultRow, results_csv, results_markdown, results_table, write_results
from nrm.lab.run import RunFolder, new_trainer, train

__all__ = [
    "WORLDS",
    "Record",
    "ResultRow",
    "RunConfig",
    "RunFolder",
    "choose_run",
    "choose_world",
    "new_trainer",
    "read_record",
    "read_records",
    "results_csv",
    "results_markdown",
    "results_table",
    "run_config",
    "task_on_world",
    "train",
    "with_settings",
    "write_results",
]
