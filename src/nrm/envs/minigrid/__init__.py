"""MiniGrid's environments as image environments with tasks. They come with the extra `[minigrid]`."""

from nrm.envs.minigrid.config import READY_TASKS, MiniGridConfig, minigrid_env, minigrid_task

__all__ = [
    "READY_TASKS",
    "MiniGridConfig",
    "minigrid_env",
    "minigrid_task",
]
