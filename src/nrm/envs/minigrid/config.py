"""Which of MiniGrid's environments, how it is seen, and how it is made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium

from nrm.envs.labels import LabelFunction
from nrm.envs.registry import ENVS, LabelledConfig, ObservedConfig
from nrm.envs.task_env import TaskEnv
from nrm.envs.task_runner import End
from nrm.envs.vector import GymVectorEnv
from nrm.errors import EnvError, listing, require, suggestion
from nrm.logic import read_formula
from nrm.machines import (
    MachineLike,
    MooreMachine,
    Task,
    TaskSet,
    as_task_set,
    load_task,
    own_alphabet,
    task_from_text,
)

if TYPE_CHECKING:
    from nrm.envs.minigrid.images import TileImages
from collections.abc import Iterable

from nrm.aliases import Symbol
from nrm.errors import UnknownSymbolError
from nrm.logic import is_paper_task
from nrm.machines import Alphabet

COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
STOOD_ON = ("goal", "lava")
ENDS = {"match": "success_pos", "mismatch": "failure_pos"}
"""Of Memory: where its hallway ends beside the object that was seen at the start, and beside the other one."""
CARRIED = ("key", "ball", "box")
EMPTY = "empty"
"""The symbol of an exclusive alphabet that holds when nothing else does."""

_COLOURED = ("door", *CARRIED)
PROPOSITIONS: tuple[Symbol, ...] = (
    *STOOD_ON,
    *ENDS,
    *_COLOURED,
    *(f"{colour}_{thing}" for thing in _COLOURED for colour in COLOURS),
)
"""All that can be said of any grid. `goal`, `lava`: the agent stands on one. `match`, `mismatch`: it stands at the
right or at the wrong end of Memory's hallway. `door`, `red_door`, …: such a door is open. `key`, `ball`, `box`,
`red_key`, …: the agent *carries* such a thing.

In an image of the whole grid all but the last kind are drawn. A carried thing is not: it is missing where it lay, which
tells it where every episode begins with as many of these things, as in DoorKey. In the agent's view a carried thing is
drawn, but a door only while it is in sight, and of `match` nothing but the end of a hallway."""


def what_holds(env: Any) -> set[Symbol]:
    """The propositions that are true in a MiniGrid environment now."""
    grid_env = env.unwrapped
    holds = {
        name
        for cell in grid_env.grid.grid
        if cell is not None and cell.type == "door" and cell.is_open
        for name in ("door", f"{cell.color}_door")
    }
    here = grid_env.grid.get(*grid_env.agent_pos)
    if here is not None and here.type in STOOD_ON:
        holds.add(here.type)
    place = tuple(int(part) for part in grid_env.agent_pos)
    holds |= {name for name, end in ENDS.items() if getattr(grid_env, end, None) == place}
    carried = grid_env.carrying
    if carried is not None:
        holds |= {carried.type, f"{carried.color}_{carried.type}"}
    return holds


class GridLabels:
    """The labelling function of `TaskEnv` for the propositions that a task speaks of."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.symbols = frozenset(symbols)
        for name in sorted(self.symbols - {EMPTY}):
            if name not in PROPOSITIONS:
                raise UnknownSymbolError(
                    f"nothing in a grid is called '{name}'{suggestion(name, PROPOSITIONS)}; there are goal and lava "
                    "(stood on), match and mismatch (the ends of Memory), door (open), key, ball and box (carried), "
                    "the last four also by colour: red_door, …; --env.label module:name brings what you name yourself"
                )

    def __call__(self, observation: Any, info: dict[str, Any], env: Any) -> set[Symbol]:  # noqa: ARG002
        """The task's propositions that hold after a step."""
        return what_holds(env) & self.symbols


ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
"""MiniGrid's actions, by number."""
MOVES = ACTIONS[:3]
HANDS = ACTIONS[:6]


@dataclass(frozen=True)
class ReadyTask:
    """A task for the environments whose id begins alike."""

    family: str
    """How their ids begin."""
    formula: str
    alphabet: Alphabet
    actions: tuple[str, ...]
    """The actions that matter."""


def _one(family: str, formula: str, symbols: str, actions: tuple[str, ...]) -> ReadyTask:
    """Of a task in which one symbol holds at a time."""
    return ReadyTask(family, formula, Alphabet.exclusive((*symbols.split(), EMPTY)), actions)


def _any(family: str, formula: str, propositions: str, actions: tuple[str, ...]) -> ReadyTask:
    """Of a task in which several things hold at once."""
    return ReadyTask(family, formula, Alphabet.propositional(propositions.split()), actions)


READY_TASKS = (
    # Whoever stands on the goal stands on no lava: one symbol at a time.
    _one("MiniGrid-LavaGap", "F goal & G !lava", "goal lava", MOVES),
    # The key is still in hand when the door is open. One after the other (X F, not F): were key, door and goal at once
    # enough, every state would be one letter from the end, and the distance would say nothing on the way.
    _any("MiniGrid-DoorKey", "F(key & X F(door & X F goal))", "key door goal", (*MOVES, "pickup", "toggle")),
    # The red door first. MiniGrid ends the episode when the blue one opens, whatever the order.
    _any("MiniGrid-RedBlueDoors", "!blue_door U (red_door & X F blue_door)", "red_door blue_door", (*MOVES, "toggle")),
    # What was seen at the start tells which end of the hallway is right; MiniGrid ends the episode at either.
    _one("MiniGrid-Memory", "F match & G !mismatch", "match mismatch", MOVES),
    # One thing is carried at a time: the key has to be dropped for the ball.
    _one("MiniGrid-KeyCorridor", "F(key & F ball)", "key ball", HANDS),
    _one("MiniGrid-ObstructedMaze", "F(key & F blue_ball)", "key blue_ball", HANDS),
    _any("MiniGrid-UnlockPickup", "F(key & X F(door & X F box))", "key door box", HANDS),
    _any("MiniGrid-BlockedUnlockPickup", "F(key & X F(door & X F box))", "key door box", HANDS),
    _any("MiniGrid-Unlock-", "F(key & X F door)", "key door", (*MOVES, "pickup", "toggle")),
    *(_one(f"MiniGrid-{name}", "F goal", "goal", MOVES) for name in ("FourRooms", "Empty", "SimpleCrossing")),
    _one("MiniGrid-LavaCrossing", "F goal & G !lava", "goal lava", MOVES),
)

PROPOSITIONS_IN_SHORT = "goal, lava (stood on), door (open), key, ball, box (carried), red_door, …"


def ready_task(name: str) -> ReadyTask | None:
    """The ready task for an environment's id."""
    return next((ready for ready in READY_TASKS if name.startswith(ready.family)), None)


def minigrid_task(name: str, formula: str | None = None) -> Task:
    """A task on the environment of that id: a formula over what can hold there, or the ready one."""
    ready = ready_task(name)
    if formula is None:
        if ready is None:
            raise EnvError(
                f"there is no ready task for {name}, only for {listing(r.family + '…' for r in READY_TASKS)}: give a "
                f"formula, such as 'F goal' (propositions: {PROPOSITIONS_IN_SHORT})"
            )
        formula = ready.formula
    if is_paper_task(formula):
        symbols = listing(ready.alphabet.symbols) if ready is not None else PROPOSITIONS_IN_SHORT
        raise EnvError(
            f"'{formula}' is a task of the paper's map and image; on {name} give a formula over {symbols}"
            + ("" if ready is None else f", such as the ready one, '{ready.formula}'")
        )
    parsed, logic = read_formula(formula)
    atoms = tuple(parsed.atoms())
    if ready is not None and set(atoms) <= set(ready.alphabet.symbols):
        return Task(parsed, ready.alphabet, name=formula, logic=logic)
    GridLabels(atoms)
    return Task(parsed, Alphabet.propositional(atoms), name=formula, logic=logic)


FAMILIES = ("MiniGrid-", "BabyAI-")
"""How the ids begin that MiniGrid registers."""

PREFIX = "minigrid:"
"""What the names of these environments begin with: `minigrid:MiniGrid-LavaGapS5-v0`."""


@ENVS.register
@dataclass(frozen=True)
class MiniGridConfig(LabelledConfig, ObservedConfig):
    """A MiniGrid environment, seen as an RGB image."""

    name = "minigrid"
    env_names = (f"{PREFIX}ID",)
    titled = ("source", "observation")

    observations = ("grid", "agent")
    usual: ClassVar = {"observation": "grid"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alphabet is not None and self.label is None:
            raise EnvError(
                f"symbols and propositions are for a label of your own: add --env.label, or drop {self.alphabet}"
            )

    @classmethod
    def parse(cls, name: str) -> MiniGridConfig | None:
        if not name.startswith(PREFIX):
            return None
        config = cls(name.removeprefix(PREFIX))
        check_minigrid_id(config.source)
        return config

    def task(self, text: str | None) -> Task:
        """A task file, or a formula: over what our labels name, or what the user's own label does."""
        if text is not None and text.endswith(".toml"):
            return load_task(text)
        if self.label is None or text is None:
            return minigrid_task(self.source, text)
        return task_from_text(text, self.alphabet or own_alphabet(read_formula(text).formula))

    def build(self, tasks: MooreMachine, count: int, end: End = "outcome") -> GymVectorEnv:
        """N environments side by side. They can be saved and go on exactly: see `GymVectorEnv.state_dict`."""
        return GymVectorEnv.of(partial(minigrid_env, self, tasks, end=end), count)

    def render(self, machine: MooreMachine | TaskSet, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        return minigrid_env(self, machine, mode, end)

    def title(self) -> str:
        return f"{PREFIX}{self.source}" + ("" if self.observation == "grid" else f"-{self.observation}")

    def algorithm(self) -> str:
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
        raise EnvError(f"MiniGrid has no environment '{name}'{suggestion(name, known)} (such as MiniGrid-LavaGapS5-v0)")


def minigrid_images(
    batched: MiniGridConfig | str, render_mode: str | None = None
) -> TileImages | gymnasium.Env[Any, Any]:
    """An environment of MiniGrid that shows its grid as an RGB image; its reward and its ends are its own."""
    config = MiniGridConfig.of(batched)
    check_minigrid_id(config.source)
    from nrm.envs.minigrid.images import AgentImages, ChosenActions, GridImages

    mode = None if render_mode == "ansi" else render_mode
    make: Any = gymnasium.make
    limit = {} if config.steps is None else {"max_steps": config.steps}
    try:
        env = make(config.source, render_mode=mode, disable_env_checker=True, **limit, **config.kwargs)
    except Exception as error:
        raise EnvError(f"MiniGrid could not make {config.source}: {error}") from None
    images = GridImages if config.observation == "grid" else AgentImages
    seen = images(env, text=render_mode == "ansi")
    ready = ready_task(config.source)
    if ready is None:
        return seen
    return ChosenActions(seen, tuple(ACTIONS.index(name) for name in ready.actions))


def minigrid_env(
    env: MiniGridConfig | str,
    machine: MachineLike | TaskSet | None = None,
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
    task = as_task_set(minigrid_task(config.source) if machine is None else machine)
    label = label or config.label or GridLabels(task.alphabet.symbols)
    return TaskEnv(images, task, label, empty=config.empty_of(task.alphabet), end=end)
