"""Saving and loading an agent together with the machine that its beliefs come from."""

from __future__ import annotations

import shutil
import zipfile
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecNormalize
from torch import nn

from nrm.aliases import Json
from nrm.errors import ConfigError, EnvError, ModelFileError
from nrm.files import check_members, read_json, write_bytes, write_json
from nrm.machines import (
    MachineLike,
    MooreMachine,
    Penalties,
    TaskSet,
    as_task_set,
    machine_from_dict,
    machine_to_dict,
    pool_bytes,
    pool_from_bytes,
)
from nrm.neural import NeuralRewardMachine, load_model, save_model
from nrm.sb3.counterfactual import CounterfactualReplayBuffer, counterfactual
from nrm.sb3.vec_wrapper import NeuralRewardMachineVecWrapper, find_wrapper
from nrm.tracking import MachineLearning
from nrm.wrappers import as_model

ABOUT, AGENT, MODEL, NORMALISER, TASKS = "pair.json", "algorithm.zip", "model.pt", "normalise.pkl", "tasks.npz"
FORMAT = {"format": "nrm-sb3-pair", "version": 1}


class Pair(NamedTuple):
    """An agent and its machine, as they were saved."""

    algorithm: BaseAlgorithm
    model: NeuralRewardMachine | MooreMachine | TaskSet
    env: VecEnv | None
    """The environment that was given, with the belief around it, and with `VecNormalize` around that if it was so."""


def save_pair(path: str | Path, algorithm: BaseAlgorithm, model: NeuralRewardMachine | MachineLike | TaskSet) -> Path:
    """Save an agent and its model in one file, atomically.

    The model is the one in the wrapper of the agent's environment. `VecNormalize` is saved with its statistics. Replay
    buffers and recorded episodes are not saved.
    """
    if not isinstance(algorithm, BaseAlgorithm):
        raise ConfigError(f"save_pair(path, algorithm, model) takes an agent second, not {type(algorithm).__name__}")
    env, known = algorithm.get_env(), as_model(model)
    wrapper = find_wrapper(env)
    if isinstance(known, MachineLearning):
        raise ConfigError(
            "a machine that is still learned is not saved in a pair; keep its state_dict() beside the agent, and load "
            "it into a new nrm.tracking.unknown_machine(…)"
        )
    if wrapper is None or wrapper.model != known:
        raise EnvError("the agent must act in NeuralRewardMachineVecWrapper(venv, model) with the model that is saved")
    about: dict[str, Any] = {
        **FORMAT,
        "algorithm": [type(algorithm).__module__, type(algorithm).__qualname__],
        "wrapper": {
            "layout": wrapper.augmentation.layout,
            "belief": wrapper.belief,
            "reads": wrapper.reads,
            "reward_scale": wrapper.reward_scale,
            "gamma": wrapper.gamma,
        },
        "success": 0.0 if wrapper.penalties is None else wrapper.penalties.success,
        "machine": machine_to_dict(known) if isinstance(known, MooreMachine) else None,
    }
    excluded = []
    if getattr(algorithm, "replay_buffer_class", None) is CounterfactualReplayBuffer:
        # The model in the arguments of the buffer would be pickled, and come back as a copy that never learns.
        excluded.append("replay_buffer_kwargs")
        options = algorithm.replay_buffer_kwargs  # type: ignore[attr-defined]
        about["counterfactual"] = {"machine": machine_to_dict(options["machine"]), "end": options["end"]}
    with TemporaryDirectory() as made:
        folder = Path(made, "pair")
        folder.mkdir()
        write_json(folder / ABOUT, about)
        algorithm.save(folder / AGENT, exclude=excluded)
        if isinstance(known, NeuralRewardMachine):
            save_model(folder / MODEL, known)
        else:
            (folder / TASKS).write_bytes(pool_bytes(as_task_set(known)))
        if (normalised := _normaliser(env)) is not None:
            normalised.save(str(folder / NORMALISER))
        whole = shutil.make_archive(made + "/whole", "zip", folder)
        write_bytes(Path(path), Path(whole).read_bytes())
    return Path(path)


def load_pair(
    path: str | Path, venv: VecEnv | None = None, *, grounder: nn.Module | None = None, device: str = "auto"
) -> Pair:
    """Load an agent and its model. With `venv`, it is wrapped as in training, and the agent can continue to learn.

    `venv` is required if the agent was trained on normalised observations. `grounder`: an instance, if its class is not
    registered. Stable-Baselines3 unpickles its part of the file, which can run code: load only files that you trust.
    """
    if find_wrapper(venv) is not None:
        raise EnvError("give the environment without the belief: load_pair puts the saved one around it")
    with TemporaryDirectory() as made:
        folder = Path(made)
        about = _unpacked(path, folder)
        if venv is None and (folder / NORMALISER).exists():
            raise EnvError(
                f"{path} was saved with VecNormalize around its environment, and the agent understands normalised "
                "observations only: load_pair(path, venv) puts the saved statistics around the environment again"
            )
        try:
            model = _model(about, folder, grounder)
            env = None if venv is None else _wrapped(about, folder, venv, model)
            kind = getattr(import_module(about["algorithm"][0]), about["algorithm"][1])
            if not (isinstance(kind, type) and issubclass(kind, BaseAlgorithm)):
                raise ModelFileError(f"{path}: {kind} is no algorithm of Stable-Baselines3")
            extra: dict[str, Any] = {}
            if "counterfactual" in about:
                extra = {"replay_buffer_class": None, "replay_buffer_kwargs": {}}
            if "counterfactual" in about and env is not None:
                options = about["counterfactual"]
                extra = counterfactual(env, machine_from_dict(options["machine"]), options["end"])
        except (KeyError, TypeError, ValueError, ImportError, AttributeError) as error:
            raise ModelFileError(f"{path} does not fit: {error!r}") from None
        return Pair(kind.load(folder / AGENT, env=env, device=device, **extra), model, env)


def _normaliser(env: VecEnv | None) -> VecNormalize | None:
    """The normalisation around the belief, if there is one; what lies below the belief is the environment's own."""
    while isinstance(env, VecEnvWrapper) and not isinstance(env, NeuralRewardMachineVecWrapper):
        if isinstance(env, VecNormalize):
            return env
        env = env.venv
    return None


def _unpacked(path: str | Path, folder: Path) -> dict[str, Any]:
    """What the file says of itself; the files in it are put into a folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_members(archive.infolist(), str(path), ModelFileError)
            archive.extractall(folder)
        about: Json = read_json(folder / ABOUT, Json) if (folder / ABOUT).exists() else {}
    except FileNotFoundError:
        raise ModelFileError(f"there is no file {path}") from None
    except ModelFileError:
        raise
    except Exception as error:  # zipfile and zlib raise all kinds on bytes that are no archive
        raise ModelFileError(f"{path} is no saved pair, or it is damaged: {error}") from None
    if about.get("format") != FORMAT["format"] or not (folder / AGENT).exists():
        raise ModelFileError(f"{path} holds no pair of agent and machine; was it written by save_pair?")
    if about.get("version") != FORMAT["version"]:
        raise ModelFileError(f"{path} has version {about.get('version')} of the format; update nrm to read it")
    return about


def _model(
    about: dict[str, Any], folder: Path, grounder: nn.Module | None
) -> NeuralRewardMachine | MooreMachine | TaskSet:
    if about["machine"] is not None:
        return machine_from_dict(about["machine"])
    if (folder / TASKS).exists():
        return pool_from_bytes((folder / TASKS).read_bytes(), TASKS)[0]
    return load_model(folder / MODEL, grounder)


def _wrapped(
    about: dict[str, Any], folder: Path, venv: VecEnv, model: NeuralRewardMachine | MooreMachine | TaskSet
) -> VecEnv:
    """The environment with what was around it."""
    env = NeuralRewardMachineVecWrapper(venv, model, **about["wrapper"])
    env.penalties = Penalties(about.get("success", 0.0))
    saved = folder / NORMALISER
    return VecNormalize.load(str(saved), env) if saved.exists() else env
