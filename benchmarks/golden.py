"""Golden runs: short runs of every method and environment, compared byte by byte with those of another checkout.

Record them before a change (`python -m benchmarks.golden --out out/golden-before`), and after it again with
`--against out/golden-before`. Each run is interrupted half way and resumed; what is compared is its history, a digest
of all weights, and what `nrm evaluate --json` prints. Results depend on the processor and the version of PyTorch:
compare on one machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import tyro
from torch import Tensor

import nrm
from nrm.agents import METHODS
from nrm.cli import main as command_line
from nrm.envs.minecraft import MinecraftEnv
from nrm.files import write_json
from nrm.runs import RunConfig, RunFolder, choose_run, train

GOLDEN = "golden.json"
MANY = {"family": {"families": ("reach-avoid", "conjunctions")}, "tasks": {"count": 60}}
"""Few and short tasks: runs of many are to be short, too."""
NAMES = {"automata-learning": "machine", "pure-learning": "both", "memoryless": "none"}
"""Of methods in the names of runs, by which they are compared."""


BELIEFS = {"conditioned": "filtered", "open": "open-loop", "crisp": "argmax"}
"""Names of beliefs by those of the release before."""


@dataclass(frozen=True)
class Config:
    """Record golden runs, and compare them."""

    out: Path = Path("out/golden")
    """Where the runs go; those that are there already are not made again."""
    against: Path | None = None
    """Runs recorded before. Exit status 1 where one differs."""
    only: str = ""
    """Runs whose names contain this; all when empty."""


DETECTED = ("naive", "independent-belief")
"""Methods that follow a detector."""


def runs() -> Iterator[tuple[str, RunConfig]]:
    """The runs, by name."""
    yield from single_runs()
    yield from many_runs()
    yield from special_runs()


def single_runs() -> Iterator[tuple[str, RunConfig]]:
    """One task: every method on the paper's environments, and on others as far as it goes there."""
    for method in METHODS.own:
        if method in DETECTED:
            continue
        name = NAMES.get(method, method)
        for task in ("1", "4", "6"):
            yield f"map-{task}-{name}", choose_run(task, "map", method, total_episodes=300)
        yield f"map-8-{name}-seed3", choose_run("8", "map", method, 3, algorithm="ppo", total_timesteps=8192)
        yield f"image-5-{name}", choose_run("5", "image", method, total_episodes=100)
        yield f"lava-{name}", choose_run(None, "minigrid:MiniGrid-LavaGapS5-v0", method, total_episodes=60)
    for method in ("rm", "nrm", "rnn"):
        yield f"drawn-1-{method}", choose_run("1", "image-episode", method, total_timesteps=4096)
        yield f"paper-1-{method}", choose_run("1", "map", method, total_episodes=100, recipe="paper")
        yield f"letter-{method}", choose_run("F(a & F b)", "letter", method, total_timesteps=4096)
        yield f"flat-{method}", choose_run("F red & G !blue", "flat", method, total_timesteps=4096)
        continuous: Any = {"env": {"actions": "continuous"}}
        yield f"robot-{method}", choose_run("F(red & F green)", "robot", method, total_timesteps=4096)
        yield f"plane-{method}", choose_run("F red", "flat", method, total_timesteps=4096, settings=continuous)


def many_runs() -> Iterator[tuple[str, RunConfig]]:
    """Many tasks."""
    for method in ("rm", "nrm", "rnn"):
        for env in ("letter", "flat", "image-episode"):
            many = {"tasks": MANY["tasks"]} | ({} if env == "flat" else {"family": MANY["family"]})
            chosen = {"tasks": "mixture", "total_timesteps": 16_384, "settings": many}
            yield f"many-{env}-{method}", choose_run(None, env, method, **chosen)  # type: ignore[arg-type]


def special_runs() -> Iterator[tuple[str, RunConfig]]:
    """Settings that the others do not have."""
    filtered = {"grounding": {"belief": "filtered", "objective": "marginal"}}
    yield "filtered-1-nrm", choose_run("1", "map", "nrm", total_episodes=300, settings=filtered)
    yield "view-4-nrm", choose_run("4", "map", "nrm", total_episodes=200, settings={"network": {"view": "task"}})
    yield (
        "recurrent-1-nrm",
        choose_run("1", "map", "nrm", total_episodes=130, settings={"grounding": {"grounder": "recurrent"}}),
    )
    yield "door-nrm", choose_run(None, "minigrid:MiniGrid-DoorKey-5x5-v0", "nrm", total_episodes=40)
    yield "limit-nrm", choose_run("G(pickaxe -> F gem)", "map", "nrm", total_episodes=60, end="limit")
    for method in (*DETECTED, "nrm", "state-prediction"):
        detected = {"env": {"labels": "0.1"}}
        yield f"detected-1-{method}", choose_run("1", "map", method, total_episodes=200, settings=detected)
    noisy = {"inference": {"label_noise": 0.02}}
    yield "label_noise-3-machine", choose_run("3", "map", "automata-learning", total_episodes=200, settings=noisy)


def record(folder: RunFolder, config: RunConfig) -> None:
    """Make a run in two parts: it must not matter that it was interrupted."""
    folder.begin(config)
    trainer = folder.load()
    train(folder, trainer, interrupted=lambda: trainer.progress >= 0.5)
    whole = folder.load()
    train(folder, whole)
    history = whole.history
    printed = io.StringIO()
    quiet = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO())
    with quiet[0], quiet[1], contextlib.suppress(SystemExit):
        command_line(["evaluate", str(folder.path), "--episodes", "4", "--json"])
    golden = {
        **{name: list(getattr(history, name)) for name in ("returns", "lengths", "steps", "accuracy", "decisions")},
        "weights": digest(tensors(whole.learner.state_dict())),
        "grounder": None if whole.model is None else digest(whole.model.state_dict().values()),
        "evaluation": json.loads(printed.getvalue()),
    }
    write_json(folder.path / GOLDEN, golden)


def record_sb3(path: Path) -> None:
    """PPO of Stable-Baselines3 with a neural reward machine and its callback."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    from nrm.sb3 import GroundingCallback, NeuralRewardMachineVecWrapper

    machine = nrm.compile("F pickaxe & G !lava", nrm.envs.MINECRAFT_SYMBOLS)
    venv = DummyVecEnv([lambda: nrm.TaskEnv(MinecraftEnv(nrm.envs.MinecraftConfig()), machine)] * 4)
    model = nrm.model_for(venv.observation_space, machine, seed=1)
    env = NeuralRewardMachineVecWrapper(venv, model, reward_scale=0.01)
    agent = PPO("MultiInputPolicy", env, n_steps=32, batch_size=64, seed=0)
    agent.learn(2048, callback=GroundingCallback(model, every=20))
    golden = {
        name: digest(module.state_dict().values()) for name, module in (("weights", agent.policy), ("grounder", model))
    }
    path.mkdir(parents=True, exist_ok=True)
    write_json(path / GOLDEN, golden)


def tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in nested dictionaries and lists, in their order."""
    if isinstance(value, Tensor):
        yield value
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from tensors(one)


def digest(parts: Iterable[Tensor]) -> str:
    """Of the bytes of tensors."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


def main(config: Config) -> int:
    """Record and compare."""
    torch.set_num_threads(1)
    jobs = {name: partial(record, RunFolder(config.out / name), run) for name, run in runs() if config.only in name}
    if config.only in "sb3":
        jobs["sb3"] = partial(record_sb3, config.out / "sb3")
    differing = 0
    for name, make in jobs.items():
        path = config.out / name / GOLDEN
        if not path.exists():
            make()
        told = "recorded" if config.against is None else compared(path, config.against / name / GOLDEN)
        differing += told not in ("recorded", "equal")
        print(f"{name}: {told}", flush=True)
    return 1 if differing else 0


def _renamed(text: str) -> str:
    """A golden file in the words of this release."""
    text = re.sub(r'"belief": "(conditioned|open|crisp)"', lambda found: f'"belief": "{BELIEFS[found[1]]}"', text)
    return text.replace("the last burst brought", "the last update brought")


def compared(path: Path, before: Path) -> str:
    """Whether two golden files are equal, and what differs."""
    if not before.exists():
        return "not recorded before"
    new, old = (json.loads(_renamed(one.read_text())) for one in (path, before))
    wrong = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return f"{', '.join(wrong)} differ" if wrong else "equal"


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Config)))
