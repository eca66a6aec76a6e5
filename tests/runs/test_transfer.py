"""A run's grounder in another run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from nrm.errors import ConfigError
from nrm.runs import RunConfig, RunFolder, choose_run, known_model, load_run, train

OTHER = "F door & F gem & G !pickaxe"
"""A task that the source has not taught everything for."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("source") / "run", choose_run("4", total_episodes=130))


def trained(path: Path, config: RunConfig) -> Path:
    folder = RunFolder(path)
    folder.begin(config)
    train(folder, folder.load())
    return path


def target(source: Path, task: str = "7", method: str = "nrm", **grounding: Any) -> RunConfig:
    settings = {"grounding": {"initial": str(source), **grounding}}
    return choose_run(task, method=method, total_episodes=40, settings=settings)


def weights(path: Path) -> list[torch.Tensor]:
    return [value.detach() for value in load_run(path).grounder.parameters()]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(map(torch.equal, one, other))


def test_a_frozen_grounder_stays_what_it_was(source: Path, tmp_path: Path) -> None:
    frozen = trained(tmp_path / "frozen", target(source, OTHER, "frozen", every=10))
    assert same(weights(frozen), weights(source))
    accuracy = RunFolder(frozen).grounding()
    assert accuracy is not None
    assert accuracy["episode"].tolist() == [0]
    shown = load_run(source).trainer.env.probe(0)
    assert shown is not None
    named = load_run(source).grounder(shown.observations).argmax(-1)
    assert accuracy["accuracy"][0] == pytest.approx(float((named == shown.letters).double().mean()))


def test_it_learns_on_from_there(source: Path, tmp_path: Path) -> None:
    config = target(source, task=OTHER, every=10)
    begun = config.build_trainer(known_model(config).grounder)
    assert begun.model is not None
    assert same([value.detach() for value in begun.model.grounder.parameters()], weights(source))
    learned = trained(tmp_path / "on", config)
    assert not same(weights(learned), weights(source))


def test_the_source_is_not_needed_any_more(source: Path, tmp_path: Path) -> None:
    moved = tmp_path / "source"
    shutil.copytree(source, moved)
    folder = RunFolder(tmp_path / "run")
    folder.begin(target(moved, method="frozen"))
    shutil.rmtree(moved)
    train(folder, folder.load())
    assert same(weights(folder.path), weights(source))


def test_what_does_not_fit(source: Path, tmp_path: Path) -> None:
    initial = {"initial": str(source)}
    with pytest.raises(ConfigError, match=r"image shows: \(64, 64, 3\)"):
        known_model(choose_run("7", "image", settings={"grounding": initial}))
    items: dict[str, Any] = {"items": ["lava@1,1", "a@2,2"]}
    other = choose_run("F a", settings={"env": items, "grounding": initial})
    with pytest.raises(ConfigError, match=r"exclusive pickaxe, .*exclusive lava, a, empty"):
        known_model(other)
    with pytest.raises(ConfigError, match=r"grounding\.learn.*--method frozen"):
        choose_run("7", settings={"grounding": {"learn": False}})
    told = trained(tmp_path / "told", choose_run("7", method="rm", total_episodes=5))
    with pytest.raises(ConfigError, match=r"'rm'.*grounder"):
        known_model(target(told))
    with pytest.raises(ConfigError, match=r"'rm'.*grounder"):
        choose_run("7", method="rm").build_trainer(load_run(source).grounder)
