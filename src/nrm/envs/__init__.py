"""Environments with tasks: a grid, discs in the plane, MiniGrid, a task on any Gymnasium env; batches of them."""

from nrm.envs.base import BatchedEnv, Probe, ProbedEnv
from nrm.envs.counter_rng import environment_seeds
from nrm.envs.minecraft import ACTIONS, MINECRAFT_SYMBOLS, BatchedMinecraft, MinecraftConfig, MinecraftEnv
from nrm.envs.plane import BatchedPlane, PlaneConfig, PlaneEnv
from nrm.envs.registry import ENVS, Board, EnvKind, find_env
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.envs.vector import GymVectorEnv
from nrm.registration import register_envs

__all__ = [
    "ACTIONS",
    "ENVS",
    "MINECRAFT_SYMBOLS",
    "BatchedEnv",
    "BatchedMinecraft",
    "BatchedPlane",
    "Board",
    "End",
    "EnvKind",
    "GymVectorEnv",
    "MinecraftConfig",
    "MinecraftEnv",
    "PlaneConfig",
    "PlaneEnv",
    "Probe",
    "ProbedEnv",
    "TaskEnv",
    "environment_seeds",
    "find_env",
]

register_envs()
