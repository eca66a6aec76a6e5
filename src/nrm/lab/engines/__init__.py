"""Engines: what trains the cells of a grid, on this machine or on a cluster."""

from nrm.lab.engines.cluster import RayEngine
from nrm.lab.engines.events import Engine, Event
from nrm.lab.engines.local import LocalEngine

__all__ = ["Engine", "Event", "LocalEngine", "RayEngine"]
