"""One run: its configuration, its folder, and training in it."""

from nrm.runs.config import RunConfig, choose_run
from nrm.runs.folder import RunFolder, train

__all__ = ["RunConfig", "RunFolder", "choose_run", "train"]
