"""Neural Reward Machines: temporal tasks for reinforcement learning whose symbols nobody has defined.

The names below are the public interface; the modules behind them may move.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from nrm.errors import NrmError
from nrm.logic import PAPER_SYMBOLS, PAPER_TASKS, Formula, PaperTask, holds, paper_task, parse
from nrm.machines import (
    Alphabet,
    MooreMachine,
    Picture,
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
    task_from_text,
)
from nrm.machines import compile_formula as compile  # noqa: A004 - reads as nrm.compile(...)
from nrm.registration import register_envs_when_used as _register_envs_when_used
from nrm.shortcuts import Shortcuts, diagnose, explain, shortcuts

if TYPE_CHECKING:
    from nrm.agents import ALGORITHMS, METHODS, Algorithm, Method, Trainer, new_trainer
    from nrm.envs import ENVS, MINECRAFT_SYMBOLS, BatchedMinecraft, EnvConfig, GymVectorEnv, MinecraftConfig, TaskEnv
    from nrm.figures import write_figures
    from nrm.neural import (
        GROUNDERS,
        EpisodeBuffer,
        FitConfig,
        NeuralRewardMachine,
        ProbabilisticMoore,
        discover,
        extract,
        fit,
        load_episodes,
        load_model,
        record_episodes,
        save_episodes,
        save_model,
    )
    from nrm.report import write_report
    from nrm.results import read_records, write_results
    from nrm.runs import RunConfig, RunFolder, choose_run, load_run, train
    from nrm.sweeps import Grid, load_grid, run_grid
    from nrm.tracking import GroundingConfig, InferenceConfig, MachineLearning, unknown_machine
    from nrm.wrappers import NeuralRewardMachineVectorWrapper, NeuralRewardMachineWrapper, model_for

__version__ = "0.2.0"

# What needs torch or Gymnasium is imported when it is first asked for.
_LATER = {
    "agents": ("ALGORITHMS", "METHODS", "Algorithm", "Method", "Trainer", "new_trainer"),
    "envs": (
        *("MINECRAFT_SYMBOLS", "ENVS", "BatchedMinecraft", "MinecraftConfig", "TaskEnv", "GymVectorEnv", "EnvConfig"),
    ),
    "figures": ("write_figures",),
    "neural": (
        *("GROUNDERS", "EpisodeBuffer", "FitConfig", "NeuralRewardMachine", "ProbabilisticMoore"),
        *("discover", "extract", "fit", "load_episodes", "load_model", "record_episodes", "save_episodes"),
        "save_model",
    ),
    "report": ("write_report",),
    "results": ("read_records", "write_results"),
    "runs": ("RunConfig", "RunFolder", "choose_run", "load_run", "train"),
    "sb3": (),
    "sweeps": ("Grid", "load_grid", "run_grid"),
    "tracking": ("GroundingConfig", "InferenceConfig", "MachineLearning", "unknown_machine"),
    "wrappers": ("NeuralRewardMachineVectorWrapper", "NeuralRewardMachineWrapper", "model_for"),
}
_HOMES = {name: f"nrm.{folder}" for folder, names in _LATER.items() for name in names}

__all__ = [
    "ALGORITHMS",
    "ENVS",
    "GROUNDERS",
    "METHODS",
    "MINECRAFT_SYMBOLS",
    "PAPER_SYMBOLS",
    "PAPER_TASKS",
    "Algorithm",
    "Alphabet",
    "BatchedMinecraft",
    "EnvConfig",
    "EpisodeBuffer",
    "FitConfig",
    "Formula",
    "Grid",
    "GroundingConfig",
    "GymVectorEnv",
    "InferenceConfig",
    "MachineLearning",
    "Method",
    "MinecraftConfig",
    "MooreMachine",
    "NeuralRewardMachine",
    "NeuralRewardMachineVectorWrapper",
    "NeuralRewardMachineWrapper",
    "NrmError",
    "PaperTask",
    "Picture",
    "ProbabilisticMoore",
    "RunConfig",
    "RunFolder",
    "Shortcuts",
    "Task",
    "TaskEnv",
    "Trainer",
    "__version__",
    "choose_run",
    "compile",
    "diagnose",
    "difference",
    "discover",
    "draw",
    "equivalent",
    "explain",
    "extract",
    "fit",
    "holds",
    "load_episodes",
    "load_grid",
    "load_machine",
    "load_model",
    "load_run",
    "load_task",
    "minimise",
    "model_for",
    "new_trainer",
    "paper_task",
    "parse",
    "product",
    "read_records",
    "record_episodes",
    "run_grid",
    "save_episodes",
    "save_machine",
    "save_model",
    "save_task",
    "shortcuts",
    "task_from_text",
    "train",
    "unknown_machine",
    "write_figures",
    "write_report",
    "write_results",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(_HOMES[name]), name)
    if name in _LATER:
        return _import_module(f"nrm.{name}")
    raise AttributeError(f"module 'nrm' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *_LATER, "automata", "inference", "logic", "machines"])


_register_envs_when_used()
