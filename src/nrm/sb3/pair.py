"""Saving and loading an agent together with the machine that its beliefs come from."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecNormalize
from torch import nn

from nrm.errors import ConfigError, EnvError, ModelFileError
from nrm.files import write_bytes
from nrm.machines import (
    MachineLike,
    MooreMachine,
    Penalties,
    TaskSet,
    machine_from_dict,
    machine_to_dict,
    pool_bytes,
    pool_from_bytes,
)
from nrm.neural import NeuralRewardMachine, load_model, save_model
from nrm.sb3.counterfactual import CounterfactualReplayBuffer
from nrm.sb3.vec_wrapper import NeuralRewardMachineVecWrapper, find_wrapper
from nrm.tracking import MachineLearning
from nrm.wrappers import as_model

PAIR_FORMAT = "nrm-sb3-pair"
PAIR_VERSION = 1
NORMALISER = "normalise.pkl"
TASKS = "tasks.npz"
Loaded = TypeVar("Loaded")


class Pair(NamedTuple):
    """An agent and its machine, as they were saved."""

    algorithm: BaseAlgorithm
    model: NeuralRewardMachine | MooreMachine | TaskSet
    env: VecEnv | None
    """The environment that was given, with the belief around it, and with `VecNormalize` around that if it was so."""


def save_pair(path: str | Path, algorithm: BaseAlgorithm, model: NeuralRewardMachine | MachineLike | TaskSet) -> Path:
    """Write an agent and its machine into one file, whole or not at all.

    The machine is the one that the agent's environment is wrapped with. A `VecNormalize` around the belief is saved
    with its statistics. A replay buffer is not saved, nor are the episodes that a callback has kept.
    """
    if not isinstance(algorithm, BaseAlgorithm):
        raise ConfigError(f"save_pair(path, algorithm, model) takes an agent second, not {type(algorithm).__name__}")
    wrapper = find_wrapper(algorithm.get_env())
    saved = as_model(model)
    if isinstance(saved, MachineLearning):
        raise ConfigError(
            "a machine that is still learned is not saved in a pair; keep its state_dict() beside the agent, and load "
            "it into a new nrm.unknown_machine(…)"
        )
    model = saved
    if wrapper is None or wrapper.model != model:
        raise EnvError(
            "the agent's environment must be wrapped in NeuralRewardMachineVecWrapper(venv, model) with the model that "
            "is saved"
        )
    kind = type(algorithm)
    about: dict[str, Any] = {
        "format": PAIR_FORMAT,
        "version": PAIR_VERSION,
        "algorithm": [kind.__module__, kind.__qualname__],
        "wrapper": {
            "layout": wrapper.augmentation.layout,
            "belief": wrapper.belief,
            "reads": wrapper.reads,
            "reward_scale": wrapper.reward_scale,
        },
        "success": 0.0 if wrapper.penalties is None else wrapper.penalties.success,
        "machine": machine_to_dict(model) if isinstance(model, MooreMachine) else None,
    }
    excluded = []
    if getattr(algorithm, "replay_buffer_class", None) is CounterfactualReplayBuffer:
        # The model in the arguments of the buffer would be pickled, and come back as a copy that never learns.
        excluded.append("replay_buffer_kwargs")
        options = dict(algorithm.replay_buffer_kwargs)  # type: ignore[attr-defined]
        del options["model"], options["penalties"]
        about["counterfactual"] = {**options, "machine": machine_to_dict(options["machine"])}
    agent = io.BytesIO()
    algorithm.save(agent, exclude=excluded)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("pair.json", json.dumps(about, indent=1))
        archive.writestr("algorithm.zip", agent.getvalue())
        if isinstance(model, NeuralRewardMachine):
            neural = model
            archive.writestr("model.pt", _bytes(lambda path: save_model(path, neural)))
        if isinstance(model, TaskSet):
            archive.writestr(TASKS, pool_bytes(model))
        if (normalised := _normaliser(algorithm.get_env())) is not None:
            archive.writestr(NORMALISER, _bytes(normalised.save))
    target = Path(path)
    write_bytes(target, whole.getvalue())
    return target


def load_pair(
    path: str | Path, venv: VecEnv | None = None, *, grounder: nn.Module | None = None, device: str = "auto"
) -> Pair:
    """Read a pair back. `venv`, if given, is wrapped with the belief as it was, and the agent can go on learning.

    An agent that saw normalised observations sees nothing it knows without them: `venv` is then needed.

    `grounder`: one of your own class, built as it was. Stable-Baselines3 unpickles parts of its file, which can
    execute code: load files that you trust.
    """
    about, files = _read(path)
    if find_wrapper(venv) is not None:
        raise EnvError("give the environment without the belief: load_pair puts the saved one around it")
    if venv is None and NORMALISER in files:
        raise EnvError(
            f"{path} was saved with VecNormalize around its environment, and the agent understands normalised "
            "observations only: load_pair(path, venv) puts the saved statistics around the environment again"
        )
    try:
        model = _model(about, files, grounder, path)
        env: VecEnv | None = None
        penalties: Penalties | None = None
        if venv is not None:
            env = NeuralRewardMachineVecWrapper(venv, model, **about["wrapper"])
            env.penalties = penalties = Penalties(about.get("success", 0.0))
        if env is not None and NORMALISER in files:
            inner = env
            env = _from_bytes(files[NORMALISER], lambda file: VecNormalize.load(file, inner))
        module, name = about["algorithm"]
        kind = getattr(import_module(module), name)
        if not (isinstance(kind, type) and issubclass(kind, BaseAlgorithm)):
            raise ModelFileError(f"{path}: {module}.{name} is no algorithm of Stable-Baselines3")
        extra: dict[str, Any] = {}
        if "counterfactual" in about:
            options = about["counterfactual"]
            neural = model if isinstance(model, NeuralRewardMachine) else None
            extra["replay_buffer_kwargs"] = {
                **options,
                "machine": machine_from_dict(options["machine"]),
                "model": neural,
                "penalties": penalties,
                "shape": tuple(options["shape"]),
            }
    except (KeyError, TypeError, ValueError, ImportError, AttributeError) as error:
        raise ModelFileError(f"{path} does not fit: {error!r}") from None
    return Pair(kind.load(io.BytesIO(files["algorithm.zip"]), env=env, device=device, **extra), model, env)


def _normaliser(env: VecEnv | None) -> VecNormalize | None:
    """The normalisation around the belief, if there is one; what lies below the belief is the environment's own."""
    while isinstance(env, VecEnvWrapper) and not isinstance(env, NeuralRewardMachineVecWrapper):
        if isinstance(env, VecNormalize):
            return env
        env = env.venv
    return None


def _read(path: str | Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the file says of itself, and the files in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "pair.json" not in names or "algorithm.zip" not in names:
                raise ModelFileError(
                    f"{path} holds no pair of agent and machine; was it written by save_pair? (agent.save(…) writes "
                    "the agent alone)"
                )
            files = {name: archive.read(name) for name in names}
            about = json.loads(files["pair.json"])
    except FileNotFoundError:
        raise ModelFileError(f"there is no file {path}") from None
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise ModelFileError(f"{path} is no saved pair, or it is damaged: {error}") from None
    version = about.get("version")
    if about.get("format") != PAIR_FORMAT or not isinstance(version, int) or version > PAIR_VERSION:
        raise ModelFileError(
            f"{path} has version {version} of the format '{about.get('format')}'; this library reads '{PAIR_FORMAT}' "
            f"up to {PAIR_VERSION}; update nrm to read it"
        )
    return about, files


def _model(
    about: dict[str, Any], files: dict[str, bytes], grounder: nn.Module | None, path: str | Path
) -> NeuralRewardMachine | MooreMachine | TaskSet:
    if about["machine"] is not None:
        return machine_from_dict(about["machine"])
    if TASKS in files:
        return pool_from_bytes(files[TASKS], f"{path}, {TASKS}")[0]
    if "model.pt" not in files:
        raise ModelFileError(f"{path} holds no model")
    return _from_bytes(files["model.pt"], lambda file: load_model(file, grounder))


def _bytes(save: Callable[[str], Any]) -> bytes:
    """What something writes that can only write files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.pt"
        save(str(path))
        return path.read_bytes()


def _from_bytes(saved: bytes, load: Callable[[str], Loaded]) -> Loaded:
    """What something reads that can only read files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.pt"
        path.write_bytes(saved)
        return load(str(path))
