"""One run: its configuration, its folder, and training in it."""

from nrm.runs.config import RunConfig, choose_run
from nrm.runs.folder import LoadedRun, RunFolder, known_model, load_run, train

__all__ = ["LoadedRun", "RunConfig", "RunFolder", "choose_run", "known_model", "load_run", "train"]
