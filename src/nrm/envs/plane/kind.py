"""Planes as kinds of environments for runs: `robot` and `flat`."""

from __future__ import annotations

from typing import Any

import gymnasium

from nrm.envs.plane.config import FLAT, ROBOT, PlaneConfig
from nrm.envs.plane.env import BatchedPlane, PlaneEnv
from nrm.envs.plane.geometry import Geometry
from nrm.envs.registry import ENVS, EnvKind, TaskSpace
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.errors import ConfigError
from nrm.logic.ltlf.formula import atom, both
from nrm.machines import Alphabet, MooreMachine, Task, task_from_text

NAMED = {"robot": ROBOT, "flat": FLAT}


def _task(text: str | None, config: PlaneConfig) -> Task:
    """A task file, or a formula over the environment's symbols."""
    if text is None:
        first, *rest = config.names
        formula = f"F({first} & F {rest[0]})" if rest else f"F {first}"
        raise ConfigError(f"no task is given; add one, such as --task '{formula}'")
    return task_from_text(text, _alphabet(config))


def _alphabet(config: PlaneConfig) -> Alphabet:
    """One symbol at a time; where discs may overlap, the sets of them that hold together somewhere."""
    if config.empty is not None:
        return Alphabet.exclusive(config.symbols)
    sets = Geometry(config).occurring()
    leaving = [] if config.outside is None else [(*names, config.outside) for names in sets]
    return Alphabet.of_sets(config.symbols, [*sets, *leaving])


def _tasks(config: PlaneConfig) -> TaskSpace:
    """Each colour by itself and, where discs overlap, the colours that hold together somewhere."""
    together = (both(*map(atom, names)) for names in Geometry(config).occurring() if len(names) > 1)
    return TaskSpace(_alphabet(config), (*map(atom, config.names), *together))


def _render(config: PlaneConfig, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
    return TaskEnv(PlaneEnv(config, render_mode=mode), machine, end=end)


def _title(config: PlaneConfig) -> str:
    same = (name for name, known in NAMED.items() if (known.bounds, known.discs) == (config.bounds, config.discs))
    name = next(same, "plane")
    return name if config.observation == "position" else f"{name}-{config.observation}"


PLANE = ENVS.register(
    EnvKind(
        name="plane",
        names=tuple(NAMED),
        config=PlaneConfig,
        parse=NAMED.get,
        task=_task,
        build=BatchedPlane,
        render=_render,
        title=_title,
        titled=("observation",),
        tasks=_tasks,
    )
)
