"""MiniGrid's environments as image worlds with tasks. They come with the extra `[minigrid]`."""

from nrm.envs.minigrid.build import minigrid_env, minigrid_images, minigrid_world
from nrm.envs.minigrid.config import MiniGridConfig, check_minigrid_id
from nrm.envs.minigrid.labels import PROPOSITIONS, GridLabels, what_holds
from nrm.envs.minigrid.tasks import READY_TASKS, ReadyTask, minigrid_alphabet, minigrid_task, ready_task

__all__ = [
    "PROPOSITIONS",
    "READY_TASKS",
    "GridLabels",
    "MiniGridConfig",
    "ReadyTask",
    "check_minigrid_id",
    "minigrid_alphabet",
    "minigrid_env",
    "minigrid_images",
    "minigrid_task",
    "minigrid_world",
    "ready_task",
    "what_holds",
]
