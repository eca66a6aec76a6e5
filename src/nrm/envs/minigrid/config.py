"""Which of MiniGrid's environments, how it is seen, and how it is made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import gymnasium

from nrm.envs.labels import LabelFunction
from nrm.envs.minigrid.tasks import ACTIONS, GridLabels, minigrid_task, ready_task
from nrm.envs.registry import ENVS, LabelledConfig
from nrm.envs.task_env import TaskEnv
from nrm.envs.task_runner import End
from nrm.envs.vector import GymVectorEnv
from nrm.errors import EnvError, listing, require, suggestion
from nrm.logic import read_formula
from nrm.machines import (
    MachineLike,
    MooreMachine,
    Task,
    as_machine,
    load_task,
    own_alphabet,
    task_from_text,
)

if TYPE_CHECKING:
    from nrm.envs.minigrid.images import TileImages

FAMILIES = ("MiniGrid-", "BabyAI-")
"""How the ids begin that MiniGrid registers."""

PREFIX = "minigrid:"
"""What the names of these environments begin with: `minigrid:MiniGrid-LavaGapS5-v0`."""

Actions = Literal["used", "all"]
View = Literal["grid", "agent"]


@ENVS.register
@dataclass(frozen=True)
class MiniGridConfig(LabelledConfig):
    """An environment of MiniGrid, seen as an RGB image."""

    name = "minigrid"
    env_names = (f"{PREFIX}ID",)
    titled = ("id", "view")

    id: str
    """The Gymnasium id, such as `MiniGrid-LavaGapS5-v0`."""
    actions: Actions = "used"
    """"used": the actions that matter, where we have a ready task for the environment; "all": the seven actions."""
    view: View = "grid"
    """"grid": the whole grid from above. "agent": what lies before the agent and walls do not hide, 7x7 tiles
    (`--env.kwargs.agent_view_size 5` for others). A tile has 8x8 pixels."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alphabet is not None and self.label is None:
            raise EnvError(
                f"symbols and propositions are for a label of your own; without one, what holds is named by us: "
                f"{listing(self.alphabet.symbols)}. Add --env.label module:name, or drop them"
            )

    @classmethod
    def parse(cls, name: str) -> MiniGridConfig | None:
        """`minigrid:ID`."""
        if not name.startswith(PREFIX):
            return None
        config = cls(name.removeprefix(PREFIX))
        check_minigrid_id(config.id)
        return config

    def task(self, text: str | None) -> Task:
        """A task file, or a formula: over what our labels name, or what the user's own label does."""
        if text is not None and text.endswith(".toml"):
            return load_task(text)
        if self.label is None or text is None:
            return minigrid_task(self.id, text)
        return task_from_text(text, self.alphabet or own_alphabet(read_formula(text).formula))

    def build(self, tasks: MooreMachine, count: int, end: End = "outcome") -> GymVectorEnv:
        """N environments side by side. They can be saved and go on exactly: see `GymVectorEnv.state_dict`."""
        return GymVectorEnv.of(partial(minigrid_env, self, tasks, end=end), count)

    def render(self, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        """One environment."""
        return minigrid_env(self, machine, mode, end)

    def title(self) -> str:
        """The id, and what is seen of the grid."""
        return f"{PREFIX}{self.id}" + ("" if self.view == "grid" else f"-{self.view}")

    def algorithm(self) -> str:
        """Images."""
        return "ppo"

    @classmethod
    def of(cls, env: MiniGridConfig | str) -> MiniGridConfig:
        """A configuration as it is, or that of an id."""
        return env if isinstance(env, MiniGridConfig) else cls(env)


def check_minigrid_id(name: str) -> None:
    """Raise unless MiniGrid is installed and registers an environment of that id."""
    require("minigrid", f"'{name}' needs MiniGrid", "minigrid")  # it registers its environments

    known = [known for known in gymnasium.registry if known.startswith(FAMILIES)]
    if name not in known:
        raise EnvError(
            f"MiniGrid has no environment '{name}'{suggestion(name, known)} ({len(known)} ids begin with "
            f"{' or '.join(FAMILIES)}; for example MiniGrid-LavaGapS5-v0)"
        )


def minigrid_images(
    batched: MiniGridConfig | str, render_mode: str | None = None
) -> TileImages | gymnasium.Env[Any, Any]:
    """An environment of MiniGrid that shows its grid as an RGB image; its reward and its ends are its own."""
    config = MiniGridConfig.of(batched)
    check_minigrid_id(config.id)
    from nrm.envs.minigrid.images import AgentImages, ChosenActions, GridImages

    mode = None if render_mode == "ansi" else render_mode
    make: Any = gymnasium.make
    try:
        env = make(config.id, render_mode=mode, disable_env_checker=True, **config.kwargs)
    except Exception as error:
        raise EnvError(f"MiniGrid could not make {config.id}: {error}") from None
    images = GridImages if config.view == "grid" else AgentImages
    seen = images(env, text=render_mode == "ansi")
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
    label = label or config.label or GridLabels(task.alphabet.symbols)
    return TaskEnv(images, task, label, empty=config.empty_of(task.alphabet), end=end)
