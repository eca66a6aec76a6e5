"""Worlds with tasks: a grid, discs in the plane, MiniGrid, a task on any Gymnasium environment; batches of them."""

from nrm.envs.counter_rng import environment_seeds
from nrm.envs.minecraft import ACTIONS, MINECRAFT_SYMBOLS, BatchedMinecraft, MinecraftConfig, MinecraftEnv
from nrm.envs.plane import BatchedPlane, PlaneConfig, PlaneEnv
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.envs.vector import VectorWorld
from nrm.envs.world import BatchedWorld, Probe, ProbedWorld
from nrm.envs.worlds import WORLDS, Board, WorldKind, find_world
from nrm.registration import register_worlds

__all__ = [
    "ACTIONS",
    "MINECRAFT_SYMBOLS",
    "WORLDS",
    "BatchedMinecraft",
    "BatchedPlane",
    "BatchedWorld",
    "Board",
    "End",
    "MinecraftConfig",
    "MinecraftEnv",
    "PlaneConfig",
    "PlaneEnv",
    "Probe",
    "ProbedWorld",
    "TaskEnv",
    "VectorWorld",
    "WorldKind",
    "environment_seeds",
    "find_world",
]

register_worlds()
