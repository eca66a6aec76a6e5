"""Planes that differ from ours in what is no setting: bounds, steps, starts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from nrm.envs.plane import PlaneConfig

CONSTANTS = ("bounds", "step", "directions", "start", "edge")


def plane(of: PlaneConfig | None = None, **settings: Any) -> PlaneConfig:
    """A plane with some constants and settings of its own, else like another one."""
    kind = PlaneConfig if of is None else type(of)
    own = {name: settings.pop(name) for name in CONSTANTS if name in settings}
    made: PlaneConfig = type("Plane", (kind,), own)(**({} if of is None else asdict(of)) | settings)
    return made
