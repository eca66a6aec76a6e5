"""Engines: what trains the cells of a grid, on this machine or on a cluster."""

from nrm.sweeps.engines.cluster import RayEngine
from nrm.sweeps.engines.events import Engine, Event
from nrm.sweeps.engines.local import LocalEngine

__all__ = ["Engine", "Event", "LocalEngine", "RayEngine"]
