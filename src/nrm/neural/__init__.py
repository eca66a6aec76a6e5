"""The neural reward machine: a differentiable Moore machine on probabilistic symbols, any part known or learned.

The names below are imported when they are first asked for: how to learn can be said without PyTorch.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nrm.inference import Episode
    from nrm.neural.buffer import EpisodeBuffer, packed, unpacked
    from nrm.neural.config import Attempt, FitConfig, FitRecord, FitSettings, Maximisation, Objective
    from nrm.neural.continuous import (
        MAX_LETTERS,
        Grounded,
        GrounderFactory,
        UnexplainedError,
        continuous_grounders,
        ground_and_infer,
    )
    from nrm.neural.descent import marginal, sequence
    from nrm.neural.discovery import Discovery, Inferred, discover, infer, over_alphabet
    from nrm.neural.episode_file import RecordedEpisodes, record_episodes, save_episodes
    from nrm.neural.episodes import EpisodeBatch, ObservationTable, observation_table
    from nrm.neural.extraction import (
        Comparison,
        compare,
        extract,
        grounded_traces,
        renamed_letters,
        renaming,
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
    from nrm.neural.model import Beliefs, Emission, Filtered, NeuralRewardMachine, Step
    from nrm.neural.model_file import load_model, save_model
    from nrm.neural.moore import ProbabilisticMoore
    from nrm.neural.patches import OVERLAPPING, TILE, DistinctPatches, distinct_patches, patch_features, places
    from nrm.neural.recording_files import csv_rows, load_episodes
    from nrm.neural.task_machines import TaskMachines
    from nrm.observations import Part, Parts


def _homes() -> dict[str, str]:
    """The module of each name, as the imports above say, which only type checkers carry out."""
    found = ast.walk(ast.parse(Path(__file__).read_text()))
    imports = [node for node in found if isinstance(node, ast.ImportFrom) and str(node.module).startswith("nrm.")]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_HOMES = _homes()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return globals().setdefault(name, getattr(import_module(_HOMES[name]), name))
    raise AttributeError(f"module 'nrm.neural' has no attribute '{name}'")


def __dir__() -> list[str]:
    return list(__all__)
