"""A neural reward machine in one file: weights and machine, read back without running any code from the file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nrm.errors import ConfigError, FileError, ModelFileError, NrmError, listing, shorten
from nrm.files import check_members, make_folder, read_bytes, write_bytes
from nrm.machines import Alphabet, pool_from_bytes
from nrm.neural.emission import ClassCounting
from nrm.neural.grounders import GROUNDERS, entry_of
from nrm.neural.model import NeuralRewardMachine
from nrm.neural.moore import ProbabilisticMoore
from nrm.registry import received

MODEL_FORMAT = "nrm-model"
MODEL_FORMAT_VERSION = 2
"""Version 2 has the decision diagram of letter classes, where propositions are several."""
_DTYPES = {str(dtype): dtype for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64)}


def save_model(path: str | Path, model: NeuralRewardMachine) -> Path:
    """Write a model: numbers, names and tensors only."""
    target = Path(path)
    machine = model.machine
    entry = entry_of(model.grounder)
    content = {
        "format": MODEL_FORMAT,
        "version": MODEL_FORMAT_VERSION if model.distribution.counted else 1,
        "emission": model.emission,
        "grounder": {
            "kind": entry or "custom",
            "config": {} if entry is None else model.grounder.config,
        },
        "machine": machine.described(),
        "weights": {name: value.detach().cpu() for name, value in model.state_dict().items()},
    }
    if model.feature_names is not None:
        content["feature_names"] = list(model.feature_names)
    whole = io.BytesIO()
    torch.save(content, whole)
    make_folder(target.parent)
    write_bytes(target, whole.getvalue())
    return target


def load_model(path: str | Path, grounder: nn.Module | None = None, *, trust: bool = False) -> NeuralRewardMachine:
    """Read a model without running code from the file.

    `grounder`: an instance, if its class is not registered. `trust`: import the class that it names (module:name).
    """
    content = read_torch(path, MODEL_FORMAT, range(1, MODEL_FORMAT_VERSION + 1), ModelFileError)
    try:
        with received(trust):
            model = _rebuild(content, grounder)
        model.load_state_dict(content["weights"])
        if "feature_names" in content:
            model.feature_names = tuple(map(str, content["feature_names"]))
    except NrmError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError, ArithmeticError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelFileError(f"{path} does not fit: {reason}") from None
    return model.eval()


def read_torch(
    path: str | Path, kind: str, versions: Sequence[int], error: type[FileError] = FileError
) -> dict[str, Any]:
    """What is in a torch file of ours, of that format and one of the versions; no code from it is run."""
    read_bytes(path, error, begin=1)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        check_members([one for one in members if one.compress_type != zipfile.ZIP_STORED], str(path), error)
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileError:
        raise
    except Exception as problem:  # torch raises all kinds on bytes that are no file of its own
        raise error(f"{path} is not of the format {kind}, or it is damaged ({type(problem).__name__})") from None
    found = content if isinstance(content, dict) else {}
    if (said := found.get("format")) != kind:
        raise error(f"{path} is of the format {shorten(repr(said))}, not {kind}")
    version = found.get("version")
    if type(version) is not int or version not in versions:
        raise error(f"{path} has version {shorten(repr(version))}; this release reads {listing(map(str, versions))}")
    return found


def _rebuild(content: dict[str, Any], grounder: nn.Module | None) -> NeuralRewardMachine:
    kind, config = content["grounder"]["kind"], content["grounder"]["config"]
    if grounder is None:
        give = "give an instance: load_model(path, grounder=YourModule(…))"
        if kind == "custom":
            raise ModelFileError(f"the grounder is of a class of your own; {give}")
        try:
            made = GROUNDERS[kind]
            if not (isinstance(made, type) and issubclass(made, nn.Module)):
                raise ModelFileError(f"'{kind}' is no class of grounders; {give}")
            if kind in GROUNDERS.own:
                with torch.device("meta"):  # what takes no room is made first
                    numbers = sum(one.numel() for one in made(**config).state_dict().values())
                mine = (one for name, one in content["weights"].items() if name.startswith("grounder."))
                if numbers != sum(one.numel() for one in mine):
                    raise ModelFileError(f"the weights are not those of the grounder '{kind}' as it is described")
            grounder = made(**config)
        except ConfigError as error:
            raise ModelFileError(f"{error}; or {give}") from None
    about, weights = content["machine"], content["weights"]
    if "tasks" in about:
        tasks, _ = pool_from_bytes(about["tasks"].numpy().tobytes(), "its tasks")
        return NeuralRewardMachine(grounder, tasks, content["emission"])
    occurring = about.get("occurring")
    alphabet = Alphabet.of_kind(about["symbols"], about["kind"], occurring)
    dtype = _DTYPES[about["dtype"]]
    if about.get("learned"):
        raise ModelFileError("its machine was learned by gradient descent, which this release does not read")
    levels, counting = weights["machine.levels"].numpy(), about.get("counting")
    machine = ProbabilisticMoore(
        alphabet,
        weights["machine.letter_class"].numpy(),
        levels,
        torch.zeros(about["classes"], about["states"], about["states"], dtype=dtype),
        torch.zeros(about["states"], len(levels), dtype=dtype),
        about["initial"],
        None if counting is None else ClassCounting.from_description(counting),
    )
    return NeuralRewardMachine(grounder, machine, content["emission"])
