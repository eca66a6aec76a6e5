"""The neural reward machine: a differentiable Moore machine on probabilistic symbols, any part known or learned.

The modules are imported when a name of theirs is first asked for: how to learn can be said without PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nrm.neural.buffer import Episode, EpisodeBuffer
    from nrm.neural.config import Attempt, FitConfig, FitRecord, FitSettings, Maximisation, Objective, target_for
    from nrm.neural.continuous import Grounded, GrounderFactory, continuous_grounders, ground_and_infer
    from nrm.neural.descent import OBJECTIVES, marginal, sequence
    from nrm.neural.discovery import Discovery, Inferred, discover, infer, over_alphabet
    from nrm.neural.episode_file import RecordedEpisodes, load_episodes, record_episodes, save_episodes
    from nrm.neural.episodes import EpisodeBatch, FrameTable
    from nrm.neural.extraction import (
        Comparison,
        compare,
        extract,
        grounded_traces,
        renamed_letters,
        renaming,
        sharpness,
    )
    from nrm.neural.grounders import (
        GROUNDERS,
        AttendingGrounder,
        CnnGrounder,
        FourierGrounder,
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
    from nrm.neural.layers import (
        FlatFeatures,
        PartsEncoder,
        attention_loss,
        changed_places,
        directions,
        narrow_convolution,
        waves,
    )
    from nrm.neural.learning import Progress, contradiction, fit
    from nrm.neural.model import Beliefs, Crisp, Filtered, NeuralRewardMachine, Step
    from nrm.neural.model_file import load_model, save_model
    from nrm.neural.moore import ProbabilisticMoore
    from nrm.neural.patches import OVERLAPPING, TILE, DistinctPatches, distinct_patches, patch_features, places
    from nrm.neural.recursion import uses_scan
    from nrm.neural.symbol_reader import Emission, emission_for, said_symbols
    from nrm.neural.task_machines import TaskMachines
    from nrm.observations import Part, Parts

_MODULES = (
    "nrm.neural.config",
    "nrm.neural.episodes",
    "nrm.neural.buffer",
    "nrm.neural.episode_file",
    "nrm.neural.layers",
    "nrm.neural.patches",
    "nrm.neural.grounders",
    "nrm.neural.moore",
    "nrm.neural.task_machines",
    "nrm.neural.recursion",
    "nrm.neural.symbol_reader",
    "nrm.neural.model",
    "nrm.neural.model_file",
    "nrm.neural.descent",
    "nrm.neural.extraction",
    "nrm.neural.learning",
    "nrm.neural.continuous",
    "nrm.neural.discovery",
    "nrm.observations",
)

__all__ = [
    "GROUNDERS",
    "OBJECTIVES",
    "OVERLAPPING",
    "TILE",
    "Attempt",
    "AttendingGrounder",
    "Beliefs",
    "CnnGrounder",
    "Comparison",
    "Crisp",
    "Discovery",
    "DistinctPatches",
    "Emission",
    "Episode",
    "EpisodeBatch",
    "EpisodeBuffer",
    "Filtered",
    "FitConfig",
    "FitRecord",
    "FitSettings",
    "FlatFeatures",
    "FourierGrounder",
    "FrameTable",
    "Grounded",
    "Grounder",
    "GrounderFactory",
    "GruGrounder",
    "Inferred",
    "Maximisation",
    "MlpGrounder",
    "NeuralRewardMachine",
    "Objective",
    "Part",
    "Parts",
    "PartsEncoder",
    "PartsGrounder",
    "PooledGrounder",
    "ProbabilisticMoore",
    "Progress",
    "RecordedEpisodes",
    "RecurrentGrounder",
    "Step",
    "TaskMachines",
    "TrueLabels",
    "attention_loss",
    "changed_places",
    "compare",
    "continuous_grounders",
    "contradiction",
    "directions",
    "discover",
    "distinct_patches",
    "emission_for",
    "extract",
    "fit",
    "ground_and_infer",
    "grounded_traces",
    "grounder_for",
    "infer",
    "load_episodes",
    "load_model",
    "marginal",
    "narrow_convolution",
    "over_alphabet",
    "paper_grounder",
    "patch_features",
    "places",
    "record_episodes",
    "renamed_letters",
    "renaming",
    "said_symbols",
    "save_episodes",
    "save_model",
    "sequence",
    "sharpness",
    "target_for",
    "uses_scan",
    "waves",
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
