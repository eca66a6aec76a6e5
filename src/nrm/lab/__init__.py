"""Runs: their configuration, their folders, and what comes out of them."""

from nrm.lab.config import WORLDS, RunConfig, run_config, with_settings
from nrm.lab.run import RunFolder, new_trainer, train

__all__ = ["WORLDS", "RunConfig", "RunFolder", "new_trainer", "run_config", "train", "with_settings"]
