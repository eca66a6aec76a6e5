"""The one place that turns rewards into levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nrm.machines.moore import MooreMachine


@dataclass(frozen=True)
class LevelCodec:
    levels: np.ndarray
    initial: float

    @classmethod
    def of(cls, machine: MooreMachine) -> LevelCodec:
        return cls(machine.levels, float(machine.outputs[machine.initial]))

    def snap(self, total: float) -> float:
        near = float(self.levels[np.abs(self.levels - self.initial - total).argmin()]) - self.initial
        return near if abs(near - total) <= 1e-3 * max(1.0, float(np.ptp(self.levels))) else total
