"""A point that moves in the plane among coloured discs, single and batched."""

from nrm.envs.plane.config import FLAT, ROBOT, Disc, PlaneConfig
from nrm.envs.plane.env import DIRECTIONS, PlaneEnv

__all__ = ["DIRECTIONS", "FLAT", "ROBOT", "Disc", "PlaneConfig", "PlaneEnv"]
