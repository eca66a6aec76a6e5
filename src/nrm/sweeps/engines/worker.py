"""A process of the local engine: trains the cells that it is given, one after another, until its pipe closes."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import torch

from nrm.errors import NrmWarning, describe
from nrm.runs.folder import RunFolder
from nrm.shown_warnings import ShownWarnings
from nrm.sweeps.cells import cell_path, run_cell
from nrm.sweeps.engines.events import Reporter
from nrm.sweeps.grid_words import grid_words


def main() -> None:
    """Serve the pipe whose descriptor is the first argument. The grid folder's lock comes along, held until the end."""
    torch.set_num_threads(1)
    warnings.simplefilter("always", NrmWarning)
    warnings.showwarning = cast(Any, ShownWarnings(grid_words).show)
    connection = Connection(int(sys.argv[1]))
    try:
        connection.send(("ready",))
        while True:
            order = connection.recv()
            if order is not None:  # None asks to stop what has just ended anyway
                _work(connection, *order)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the main process has ended or has gone; whatever was under way is saved
    os._exit(0)


def _work(connection: Connection[Any, Any], cell: Any, store: str, seconds: float) -> None:
    folder = RunFolder(cell_path(Path(store), cell))

    def tell(reached: int, mean: float) -> None:
        with suppress(OSError):  # nobody listens any more: the pipe's end is noticed below
            connection.send(("progress", reached, mean))

    try:
        # Anything in the pipe, be it the order to stop or its end, is a reason to save and stop.
        done = run_cell(cell, folder, seconds, Reporter(tell), interrupted=connection.poll)
    except Exception as error:
        connection.send(("failed", grid_words(describe(error))))
    else:
        connection.send(("done" if done else "saved",))


if __name__ == "__main__":
    main()
