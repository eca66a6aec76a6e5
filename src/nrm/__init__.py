"""Neural Reward Machines: temporal tasks for reinforcement learning whose symbols nobody has defined.

The names below are the public interface; the modules behind them may move.
"""

from nrm.errors import NrmError
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

__version__ = "0.1.0"

__all__ = [
    "PAPER_SYMBOLS",
    "PAPER_TASKS",
    "Alphabet",
    "Formula",
    "MooreMachine",
    "NrmError",
    "PaperTask",
    "Task",
    "__version__",
    "compile",
    "difference",
    "draw",
    "equivalent",
    "holds",
    "load_machine",
    "load_task",
    "minimise",
    "paper_task",
    "parse",
    "product",
    "save_machine",
    "save_task",
]
