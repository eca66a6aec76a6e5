"""The neural reward machine: a differentiable Moore machine on probabilistic symbols, any part known or learned.

The modules are imported when a name of theirs is first asked for: how to learn can be said without PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nrm.neural.batches import EpisodeBatch
    from nrm.neural.buffer import Episode, EpisodeBuffer
    from nrm.neural.config import Attempt, FitConfig, FitRecord
    from nrm.neural.discovery import Discovery, Inferred, discover, infer
    from nrm.neural.episode_file import RecordedEpisodes, load_episodes, record_episodes, save_episodes
    from nrm.neural.extraction import Comparison, compare, extract, renamed_letters, renaming, sharpness
    from nrm.neural.frames import FrameTable
    from nrm.neural.grounders import (
        GROUNDERS,
        CnnGrounder,
        Grounder,
        GruGrounder,
        MlpGrounder,
        PartsGrounder,
        PooledGrounder,
        RecurrentGrounder,
        TrueLabels,
        grounder_for,
        paper_grounder,
    )
    from nrm.neural.learning import fit
    from nrm.neural.model import Beliefs, Crisp, Filtered, NeuralRewardMachine, Step
    from nrm.neural.model_file import load_model, save_model
    from nrm.neural.moore import ProbabilisticMoore
    from nrm.neural.objectives import OBJECTIVES
    from nrm.parts import Part, Parts

_FOLDER = (
    *("config", "batches", "frames", "buffer", "episode_file", "grounders", "moore", "model", "model_file"),
    *("objectives", "extraction", "learning", "discovery"),
)
_MODULES = (*(f"nrm.neural.{name}" for name in _FOLDER), "nrm.parts")

__all__ = [
    "GROUNDERS",
    "OBJECTIVES",
    "Attempt",
    "Beliefs",
    "CnnGrounder",
    "Comparison",
    "Crisp",
    "Discovery",
    "Episode",
    "EpisodeBatch",
    "EpisodeBuffer",
    "Filtered",
    "FitConfig",
    "FitRecord",
    "FrameTable",
    "Grounder",
    "GruGrounder",
    "Inferred",
    "MlpGrounder",
    "NeuralRewardMachine",
    "Part",
    "Parts",
    "PartsGrounder",
    "PooledGrounder",
    "ProbabilisticMoore",
    "RecordedEpisodes",
    "RecurrentGrounder",
    "Step",
    "TrueLabels",
    "compare",
    "discover",
    "extract",
    "fit",
    "grounder_for",
    "infer",
    "load_episodes",
    "load_model",
    "paper_grounder",
    "record_episodes",
    "renamed_letters",
    "renaming",
    "save_episodes",
    "save_model",
    "sharpness",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            value = vars(import_module(module)).get(name)
            if value is not None:
                return globals().setdefault(name, value)
    raise AttributeError(f"module 'nrm.neural' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
