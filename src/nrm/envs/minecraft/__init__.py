"""The paper's Minecraft-like grid environment, single and batched."""

from nrm.envs.minecraft.batched import BatchedMinecraft
from nrm.envs.minecraft.config import MINECRAFT_SYMBOLS, PAPER_ITEMS, MinecraftConfig
from nrm.envs.minecraft.env import MinecraftEnv
from nrm.envs.minecraft.grid import ACTIONS

__all__ = ["ACTIONS", "MINECRAFT_SYMBOLS", "PAPER_ITEMS", "BatchedMinecraft", "MinecraftConfig", "MinecraftEnv"]
