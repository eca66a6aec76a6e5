"""Neural Reward Machines: temporal tasks for reinforcement learning whose symbols nobody has defined.

The names below are the public interface; the modules behind them may move.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nrm.errors import NrmError
from nrm.groundability import Shortcuts, shortcuts
from nrm.logic import PAPER_SYMBOLS, PAPER_TASKS, Formula, PaperTask, holds, paper_task, parse
from nrm.machines import (
    Alphabet,
    MooreMachine,
    Task,
    difference,
    draw,
    equivalent,
    load_machine,
    load_task,
    minimise,
    product,
    save_machine,
    save_task,
)
from nrm.machines import compile_formula as compile  # noqa: A004 - reads as nrm.compile(...)
from nrm.registration import register_worlds

if TYPE_CHECKING:
    from nrm.envs import MINECRAFT_SYMBOLS, BatchedMinecraft, MinecraftConfig, TaskEnv, VectorWorld
    from nrm.neural import (
        EpisodeBuffer,
        FitConfig,
        NeuralRewardMachine,
        ProbabilisticMoore,
        discover,
        extract,
        fit,
    )

__version__ = "0.1.0"

# What needs torch or Gymnasium is imported when it is first asked for.
_LATER = {
    "MINECRAFT_SYMBOLS": "nrm.envs",
    "BatchedMinecraft": "nrm.envs",
    "MinecraftConfig": "nrm.envs",
    "TaskEnv": "nrm.envs",
    "VectorWorld": "nrm.envs",
    "EpisodeBuffer": "nrm.neural",
    "FitConfig": "nrm.neural",
    "NeuralRewardMachine": "nrm.neural",
    "ProbabilisticMoore": "nrm.neural",
    "discover": "nrm.neural",
    "extract": "nrm.neural",
    "fit": "nrm.neural",
}

__all__ = [
    "MINECRAFT_SYMBOLS",
    "PAPER_SYMBOLS",
    "PAPER_TASKS",
    "Alphabet",
    "BatchedMinecraft",
    "EpisodeBuffer",
    "FitConfig",
    "Formula",
    "MinecraftConfig",
    "MooreMachine",
    "NeuralRewardMachine",
    "NrmError",
    "PaperTask",
    "ProbabilisticMoore",
    "Shortcuts",
    "Task",
    "TaskEnv",
    "VectorWorld",
    "__version__",
    "compile",
    "difference",
    "discover",
    "draw",
    "equivalent",
    "extract",
    "fit",
    "holds",
    "load_machine",
    "load_task",
    "minimise",
    "paper_task",
    "parse",
    "product",
    "save_machine",
    "save_task",
    "shortcuts",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'nrm' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])


if "gymnasium" in sys.modules:
    register_worlds()
