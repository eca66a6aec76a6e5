"""Making MiniGrid's environments: as images, with a task, and N of them at once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium

from nrm.envs.labels import LabelFunction, Speaker, SpokenLabel, labelling
from nrm.envs.minigrid.config import MiniGridConfig, check_minigrid_id
from nrm.envs.minigrid.labels import EMPTY, GridLabels
from nrm.envs.minigrid.tasks import ACTIONS, minigrid_task, ready_task
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.envs.vector import GymVectorEnv
from nrm.errors import EnvError
from nrm.machines import MachineLike, MooreMachine, as_machine

if TYPE_CHECKING:
    from nrm.envs.minigrid.images import TileImages


def minigrid_images(
    batched: MiniGridConfig | str, render_mode: str | None = None
) -> TileImages | gymnasium.Env[Any, Any]:
    """An environment of MiniGrid that shows its grid as an RGB image; its reward and its ends are its own."""
    config = MiniGridConfig.of(batched)
    check_minigrid_id(config.id)
    from nrm.envs.minigrid.images import AgentImages, ChosenActions, GridImages

    mode = None if render_mode == "ansi" else render_mode
    make: Any = gymnasium.make
    view = {"agent_view_size": config.view_size} if config.view == "agent" else {}
    try:
        env = make(config.id, render_mode=mode, disable_env_checker=True, **view, **config.kwargs)
    except Exception as error:
        raise EnvError(f"MiniGrid could not make {config.id}: {error}") from None
    images = GridImages if config.view == "grid" else AgentImages
    seen = images(env, config.tile, text=render_mode == "ansi")
    ready = ready_task(config.id)
    if ready is None or config.actions == "all":
        return seen
    return ChosenActions(seen, tuple(ACTIONS.index(name) for name in ready.actions))


def minigrid_env(
    env: MiniGridConfig | str,
    machine: MachineLike | None = None,
    render_mode: str | None = None,
    end: End = "outcome",
    label: LabelFunction | str | None = None,
) -> TaskEnv[Any, Any]:
    """An environment of MiniGrid with a task: the ready one, or that of a machine over what can hold in a grid.

    The task pays; what MiniGrid itself would pay is in `info["base_reward"]`. An episode ends as the task or MiniGrid
    says, as in lava, or at MiniGrid's limit of steps. `label`: a function of (observation, info, environment) in place
    of our propositions; see `TaskEnv`.
    """
    config = MiniGridConfig.of(env)
    images = minigrid_images(config, render_mode)
    task = as_machine(minigrid_task(config.id) if machine is None else machine)
    symbols = task.alphabet.symbols
    empty = EMPTY if EMPTY in symbols and task.alphabet.is_exclusive else None
    if label is None and config.label is not None:
        label = SpokenLabel(labelling(config.label, images), Speaker.by_option(config.label))
    return TaskEnv(images, task, label or GridLabels(symbols), empty=empty, end=end)


def minigrid_batch(env: MiniGridConfig | str, machine: MooreMachine, count: int, end: End = "outcome") -> GymVectorEnv:
    """N such environments side by side. They can be saved and go on exactly: see `GymVectorEnv.state_dict`."""
    return GymVectorEnv.of(partial(minigrid_env, env, machine, end=end), count)
