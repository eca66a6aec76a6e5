"""Worlds with tasks: the Minecraft-like grid, a task on any Gymnasium environment, and batches of either."""

from nrm.envs.batch import BatchedWorld, StepBatch, Truth
from nrm.envs.batched import BatchedMinecraft
from nrm.envs.config import MINECRAFT_SYMBOLS, PAPER_ITEMS, MinecraftConfig
from nrm.envs.draws import environment_seeds
from nrm.envs.ends import End
from nrm.envs.grid import ACTIONS
from nrm.envs.minecraft import MinecraftEnv
from nrm.envs.task import TaskEnv
from nrm.envs.vector import VectorWorld
from nrm.registration import MINECRAFT_ID, register_worlds

__all__ = [
    "ACTIONS",
    "MINECRAFT_ID",
    "MINECRAFT_SYMBOLS",
    "PAPER_ITEMS",
    "BatchedMinecraft",
    "BatchedWorld",
    "End",
    "MinecraftConfig",
    "MinecraftEnv",
    "StepBatch",
    "TaskEnv",
    "Truth",
    "VectorWorld",
    "environment_seeds",
]

register_worlds()
