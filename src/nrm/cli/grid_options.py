"""What `nrm reproduce` and `nrm sweep` share: where the runs go, what trains them, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nrm.cli.grid_finish import finish
from nrm.cli.grid_progress import grid_progress
from nrm.cli.options import UsageError
from nrm.cli.terminal import interrupt_flag

if TYPE_CHECKING:
    from nrm.sweeps.engines import Engine
    from nrm.sweeps.grid import Grid


@dataclass(frozen=True)
class GridOptions:
    """How a grid is run."""

    out: Path | None = None
    """The folder for the grid: a folder for each run in runs/, and the results. The same command goes on there."""
    engine: Literal["local", "ray"] = "local"
    """local: processes on this machine. ray: tasks of a Ray cluster (extra [ray])."""
    processes: int | None = None
    """Runs at a time on this machine; as many as there are cores when absent."""
    address: str | None = None
    """Of an existing Ray cluster, such as 10.0.0.1:6379 or auto; without it a cluster is started on this machine."""
    quiet: bool = False
    """No progress; the table of results only."""

    def run_grid(self, grid: Grid) -> int:
        """Train what is missing, and tell what came of it. Status 0: all done, 1: a run failed, 130: interrupted."""
        from nrm.sweeps.running import run_grid

        if self.out is None:
            raise UsageError("say where the runs go: --out DIR")
        engine = self._engine()
        with interrupt_flag() as interrupted, grid_progress(self.quiet) as plan:
            outcome = run_grid(grid, self.out, engine, plan, interrupted)
        return finish(self.out, outcome, self.quiet)

    def _engine(self) -> Engine:
        from nrm.sweeps.engines import LocalEngine, RayEngine

        if self.engine == "ray":
            return RayEngine(address=self.address, processes=self.processes)
        if self.address is not None:
            raise UsageError("--address names a Ray cluster; add --engine ray")
        return LocalEngine(processes=self.processes)
