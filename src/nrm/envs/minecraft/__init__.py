"""The paper's Minecraft-like grid environment, single and batched."""

from nrm.envs.grids import ACTIONS
from nrm.envs.minecraft.env import MINECRAFT_SYMBOLS, PAPER_ITEMS, MinecraftConfig, MinecraftEnv

__all__ = ["ACTIONS", "MINECRAFT_SYMBOLS", "PAPER_ITEMS", "MinecraftConfig", "MinecraftEnv"]
