"""Training as a whole: worlds are solved, equal seeds give equal runs, and only RM sees the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import nrm
from nrm.agents import METHODS, AgentConfig, Method, Trainer, preset
from nrm.envs import BatchedMinecraft, MinecraftConfig, Truth
from nrm.errors import ConfigError

CORRIDOR = MinecraftConfig(size=(3, 1), items={"gem": (1, 0), "lava": (2, 0)}, steps=12)
"""Three cells in a row: start, gem, lava."""
SYMBOLS = ("gem", "lava", "empty")
QUICK = AgentConfig(episodes=400, environments=8, grounding_every=40, grounding_epochs=100, learning_rate=3e-3)


def corridor(formula: str = "F gem & F lava", count: int = 8, **options: Any) -> BatchedMinecraft:
    config = replace(CORRIDOR, **options)
    return BatchedMinecraft(config, nrm.compile(formula, SYMBOLS), count)


def run(trainer: Trainer, updates: int | None = None) -> Trainer:
    while not trainer.done and (updates is None or trainer.updates < updates):
        trainer.update()
    return trainer


@pytest.mark.parametrize("method", METHODS)
def test_a_trivial_world_is_solved(method: Method) -> None:
    # From the middle to one end and then to the other: on the way back the middle looks as it did before.
    world = corridor("F(gem & F lava)", items={"gem": (0, 0), "lava": (2, 0)}, start=(1, 0))
    trainer = run(Trainer(world, method, replace(QUICK, episodes=1200 if method == "rnn" else 400), seed=1))
    assert trainer.history.mean_return() > 90
    if method == "nrm":
        assert trainer.history.accuracy[-1][3] == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_equal_seeds_give_equal_runs(method: Method) -> None:
    config = replace(QUICK, episodes=150)
    runs = [run(Trainer(corridor(), method, config, seed)) for seed in (3, 3, 4)]
    assert runs[0].history == runs[1].history
    assert runs[0].history.returns != runs[2].history.returns
    for first, second in zip(runs[0].agent.parameters, runs[1].agent.parameters, strict=True):
        assert torch.equal(first, second)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("observation", ["map", "image"])
def test_a_saved_run_goes_on_as_if_never_stopped(method: Method, observation: str) -> None:
    config = replace(QUICK, episodes=130 if observation == "map" else 60, grounding_every=25, grounding_epochs=20)
    options: dict[str, Any] = {"observation": observation, "slip": 0.1}
    whole = run(Trainer(corridor(**options), method, config, seed=5))
    half = run(Trainer(corridor(**options), method, config, seed=5), updates=whole.updates // 2)
    resumed = Trainer(corridor(**options), method, config, seed=5)
    resumed.load_state_dict(half.state_dict())
    assert run(resumed).history == whole.history


class Blindfold(BatchedMinecraft):
    """A world that lets nobody look at the truth."""

    @property
    def truth(self) -> Truth:
        raise AssertionError("the truth was looked at")


@pytest.mark.parametrize("method", METHODS)
def test_only_rm_sees_the_truth(method: Method) -> None:
    world = Blindfold(CORRIDOR, nrm.compile("F gem & F lava", SYMBOLS), 4)
    trainer = Trainer(world, method, replace(QUICK, episodes=60), seed=0)
    if method == "rm":
        with pytest.raises(AssertionError, match="the truth"):
            run(trainer)
    else:
        assert len(run(trainer).history.returns) == 60


def test_labels_are_not_needed_for_learning_the_grounding(monkeypatch: pytest.MonkeyPatch) -> None:
    with_labels = run(Trainer(corridor(), "nrm", replace(QUICK, episodes=120), seed=2))

    def hidden(world: BatchedMinecraft) -> Tensor | None:
        return None

    monkeypatch.setattr(BatchedMinecraft, "true_labels", hidden)
    without = run(Trainer(corridor(), "nrm", replace(QUICK, episodes=120), seed=2))
    assert without.history.returns == with_labels.history.returns
    assert without.history.accuracy == []


def test_unknown_methods_and_presets() -> None:
    with pytest.raises(ConfigError, match="did you mean 'nrm'"):
        Trainer(corridor(), "nmr", QUICK)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="did you mean 'paper'"):
        preset("papr")
    with pytest.raises(ConfigError, match="window must be positive"):
        replace(QUICK, window=0)


def test_the_paper_preset_is_the_papers() -> None:
    paper = preset("paper")
    assert (paper.episodes, paper.learning_rate, paper.window) == (10_000, 4e-4, 5)
    assert (paper.actor_weight, paper.critic_weight, paper.entropy_weight) == (0.3, 0.5, 1e-4)
    assert (paper.grounding_every, paper.grounding_epochs, paper.grounding_objective) == (120, 100, "marginal")
    assert (paper.hidden, paper.recurrent_size, paper.recurrent_layers) == (120, 50, 2)
