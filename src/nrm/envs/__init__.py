"""Environments with tasks: a grid, discs in the plane, MiniGrid, a task on any Gymnasium env; batches of them."""

from nrm.envs.base import (
    ActionSpace,
    BatchedEnv,
    ManyTasksEnv,
    Probe,
    ProbedEnv,
    StepBatch,
    Truth,
    action_space,
    tasks_of,
)
from nrm.envs.counter_rng import environment_seeds
from nrm.envs.labels import labelling, letter_of
from nrm.envs.minecraft import ACTIONS, MINECRAFT_SYMBOLS, BatchedMinecraft, MinecraftConfig, MinecraftEnv
from nrm.envs.plane import BatchedPlane, PlaneConfig, PlaneEnv
from nrm.envs.registry import ENVS, Board, EnvConfig, Spaces, TaskSpace, WithoutMemory, find_env, many_task_envs
from nrm.envs.task_env import TaskEnv
from nrm.envs.task_runner import End, ending_states
from nrm.envs.vector import GymVectorEnv
from nrm.registration import register_envs

__all__ = [
    "ACTIONS",
    "ENVS",
    "MINECRAFT_SYMBOLS",
    "ActionSpace",
    "BatchedEnv",
    "BatchedMinecraft",
    "BatchedPlane",
    "Board",
    "End",
    "EnvConfig",
    "GymVectorEnv",
    "ManyTasksEnv",
    "MinecraftConfig",
    "MinecraftEnv",
    "PlaneConfig",
    "PlaneEnv",
    "Probe",
    "ProbedEnv",
    "Spaces",
    "StepBatch",
    "TaskEnv",
    "TaskSpace",
    "Truth",
    "WithoutMemory",
    "action_space",
    "ending_states",
    "environment_seeds",
    "find_env",
    "labelling",
    "letter_of",
    "many_task_envs",
    "tasks_of",
]

register_envs()
