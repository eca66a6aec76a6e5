"""Agents on another device: nothing is forgotten there or here, and what they learn is the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from nrm.agents import Trainer, evaluate
from nrm.agents.devices import find_device
from nrm.agents.policy import Agent
from nrm.envs import find_env
from nrm.envs.letter import LetterEnv
from nrm.errors import ConfigError
from nrm.runs import RunConfig, RunFolder, choose_run
from tests.elsewhere import ELSEWHERE, HERE, DeviceError, Elsewhere

torch.set_num_threads(1)
ONE: list[tuple[str, str, dict[str, Any]]] = [
    (method, "map", {})
    for method in ("rm", "nrm", "automata-learning", "pure-learning", "rnn", "memoryless", "return", "frozen")
]
SPECIAL: list[tuple[str, str, dict[str, Any]]] = [
    ("nrm", "map", {"grounding": {"belief": "filtered"}}),
    ("nrm", "map", {"grounding": {"grounder": "recurrent"}}),
    ("automata-learning", "map", {"inference": {"label_noise": 0.05}}),
    ("nrm", "image", {}),
    ("nrm", "image-episode", {}),
    ("rnn", "image-episode", {}),
    ("rnn", "flat", {"env": {"actions": "continuous"}}),
]
MANY = [(method, env, {"tasks": {"count": 8}}) for method, env in (("rm", "letter"), ("nrm", "flat"), ("rnn", "flat"))]
QUICK: dict[str, Any] = {"every": 4, "epochs": 3, "restarts": 1}


def run(method: str, env: str, settings: dict[str, Any]) -> RunConfig:
    """A run of a few updates."""
    if method in ("nrm", "frozen"):
        settings = {**settings, "grounding": QUICK | settings.get("grounding", {})}
    options: dict[str, Any] = {"total_timesteps": 256, "num_envs": 4, "settings": settings}
    if "tasks" in settings:
        return choose_run(None, env, method, 1, tasks="mixture", **options)
    space = find_env(env).task_space()
    events = [] if space is None else [event.brief() for event in space.events]
    return choose_run(f"F({events[0]} & F {events[1]})", env, method, 1, **options)


def learned(trainer: Trainer) -> list[torch.Tensor]:
    model = [] if trainer.model is None else list(trainer.model.grounder.parameters())
    return [*trainer.learner.actor.parameters, *model]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("method", "env", "settings"), [*ONE, *SPECIAL, *MANY])
def test_the_same_is_learned_elsewhere(method: str, env: str, settings: dict[str, Any]) -> None:
    config = run(method, env, settings)
    here = config.build_trainer()
    here.run()
    with Elsewhere() as mode:
        there = config.build_trainer(device=ELSEWHERE)
        there.run()
        places = {mode.place(one) for one in learned(there)}
        found = evaluate(there, config.build_env(2), 2, 0, greedy=False)
    assert places == {ELSEWHERE}
    assert replace(there.history, decisions=[]) == replace(here.history, decisions=[])
    for one, other in zip(there.history.decisions, here.history.decisions, strict=True):
        assert one[:4] == pytest.approx(other[:4], rel=1e-5)  # sums are in another order
        assert one.verdict == other.verdict
    assert method != "nrm" or there.history.decisions
    assert repr(found) == repr(evaluate(here, config.build_env(2), 2, 0, greedy=False))  # NaN equals nothing


@pytest.mark.parametrize("method", ["nrm", "rnn"])
def test_a_run_goes_on_on_another_device(method: str, tmp_path: Path) -> None:
    config = run(method, "flat", {"tasks": {"count": 8}})
    whole = config.build_trainer().run()
    folder = RunFolder(tmp_path / "run")
    folder.begin(config)
    with Elsewhere() as mode:
        trainer = folder.load(ELSEWHERE)
        while trainer.steps < 128:
            trainer.update()
        folder.save(trainer)
        again = RunFolder(folder.path).load(ELSEWHERE)
        assert again.run() == whole
        assert {mode.place(one) for one in learned(again)} == {ELSEWHERE}
    assert folder.load("cpu").run() == whole


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_formulas_are_executed_elsewhere(method: str) -> None:
    config = run(method, "letter", {"tasks": {"count": 8}})
    env = LetterEnv(config.settings["env"])
    here = Agent(config.build_trainer()).execute("F a", env, seed=0, most_steps=10)
    with Elsewhere():
        there = Agent(config.build_trainer(device=ELSEWHERE)).execute("F a", env, seed=0, most_steps=10)
    assert there == here


def test_a_grounder_is_taken_along() -> None:
    config = run("nrm", "map", {})
    first = config.build_trainer()
    assert first.model is not None
    with Elsewhere() as mode:
        trainer = config.build_trainer(first.model.grounder, ELSEWHERE)
        trainer.run()
        assert {mode.place(one) for one in learned(trainer)} == {ELSEWHERE}
    assert all(one.device == HERE for one in first.model.grounder.parameters())


@pytest.mark.parametrize(
    "forgotten",
    [
        lambda there: there + torch.ones(2),
        lambda there: torch.stack([there, torch.ones(2)]),
        lambda there: torch.ones(2)[there.long()],
        lambda there: there.numpy(),
        lambda there: torch.nn.Linear(2, 1)(there),
    ],
)
def test_what_is_forgotten_is_noticed(forgotten: Callable[[torch.Tensor], object]) -> None:
    with Elsewhere():
        there = torch.ones(2).to(ELSEWHERE)
        assert (there * 2).device == ELSEWHERE
        assert there.cpu().device == HERE
        with pytest.raises(DeviceError):
            forgotten(there)


def test_devices_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_device("cpu") == torch.device("cpu")
    for name in ("gpu", "cuda:x", "meta", "", "cpu:1"):
        with pytest.raises(ConfigError, match=f"'{name}'"):
            find_device(name)
    for there in (0, 2):
        monkeypatch.setattr(torch.cuda, "device_count", lambda there=there: there)
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there > 0)
        assert find_device("auto").type == ("cuda" if there else "cpu")
        with pytest.raises(ConfigError, match="'cuda:2'"):
            find_device("cuda:2")
    assert find_device("cuda:1") == torch.device("cuda:1")
    config = choose_run("1", device="cuda")
    assert RunConfig.from_json(config.to_json()) == config
    assert config.device == "cuda"
    assert "device" not in choose_run("1").to_json()


def test_a_run_of_a_gpu_that_is_not_here(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'cuda'"):
        choose_run("1", device="cuda")
    RunFolder(tmp_path / "run").begin(run("rm", "map", {}))
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "device": "cuda"}))
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"'cuda'.*--device cpu"):
        folder.load()
    folder.save(folder.load("cpu"))
    assert folder.load("cpu").device == HERE
