"""The paper's Minecraft-like grid environment, single and batched."""

from nrm.envs.grids import ACTIONS
from nrm.envs.minecraft.config import MINECRAFT_SYMBOLS, PAPER_ITEMS, MinecraftConfig
from nrm.envs.minecraft.env import MinecraftEnv

__all__ = ["ACTIONS", "MINECRAFT_SYMBOLS", "PAPER_ITEMS", "MinecraftConfig", "MinecraftEnv"]
