"""TensorBoard events of a run, where TensorBoard is installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nrm.agents import Trainer


class EventLog:
    """Writes what changed since the last call. Without the extra `[tensorboard]` it writes nothing."""

    def __init__(self, folder: Path, trainer: Trainer, every: int = 100) -> None:
        """`every`: episodes between two entries. What an interrupted run wrote past its checkpoint is purged."""
        self._every = every
        self._episodes = len(trainer.history.returns)
        self._updates = len(trainer.history.accuracy)
        self._open: Callable[[], Any] | None = None
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        # Made with the first entry: a folder of events that is there tells of episodes.
        self._open = partial(SummaryWriter, str(folder / "events"), purge_step=self._episodes)

    def update(self, trainer: Trainer) -> None:
        """Add entries when enough episodes are new."""
        history = trainer.history
        done = len(history.returns)
        if self._open is None or (done - self._episodes < self._every and not trainer.done):
            return
        if self._writer is None:
            self._writer = self._open()
        new = slice(self._episodes, done)
        for name, values in (("return", history.returns), ("length", history.lengths), ("success", history.successes)):
            if values[new]:
                self._writer.add_scalar(f"episode/{name}", float(np.mean(values[new])), done)
        for episode, plain, balanced, modulo in history.accuracy[self._updates :]:
            for name, value in (("plain", plain), ("balanced", balanced), ("modulo_shortcuts", modulo)):
                self._writer.add_scalar(f"grounding/{name}", value, episode)
        self._episodes, self._updates = done, len(history.accuracy)

    def close(self) -> None:
        """Write out what is buffered."""
        if self._writer is not None:
            self._writer.close()
