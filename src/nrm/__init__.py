"""Neural Reward Machines: temporal tasks for reinforcement learning whose symbols nobody has defined.

The names below are the public interface; the modules behind them may move.
"""

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
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

_NEURAL = ("EpisodeBuffer", "FitConfig", "NeuralRewardMachine", "ProbabilisticMoore", "discover", "extract", "fit")

__all__ = [
    "PAPER_SYMBOLS",
    "PAPER_TASKS",
    "Alphabet",
    "EpisodeBuffer",
    "FitConfig",
    "Formula",
    "MooreMachine",
    "NeuralRewardMachine",
    "NrmError",
    "PaperTask",
    "ProbabilisticMoore",
    "Shortcuts",
    "Task",
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


def __getattr__(name: str) -> object:
    """The neural part, loaded when it is first asked for: it brings PyTorch with it."""
    if name in _NEURAL:
        import nrm.neural

        return getattr(nrm.neural, name)
    raise AttributeError(f"module 'nrm' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_NEURAL})
