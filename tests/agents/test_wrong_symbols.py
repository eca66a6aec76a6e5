"""Learning the machine while acting, where symbols are told wrongly now and then; and machines that explain nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch

import nrm
from nrm.agents import Trainer, new_trainer
from nrm.agents.a2c import A2CConfig
from nrm.envs import BatchedTasks, MinecraftConfig, Truth
from nrm.report.learned import learned_data
from nrm.results import Record
from nrm.runs.learned_machines import LearnedMachines
from nrm.tracking import InferenceConfig, MachineLearning, ObservedSymbols, RecordedEpisode, Transition

SYMBOLS = ("gem", "lava", "empty")
CORRIDOR = MinecraftConfig(size=(3, 1), items=["gem@0,0", "lava@2,0"], start=(1, 0), steps=12)


class Misleading(BatchedTasks):
    """A corridor that tells one symbol in twenty wrongly."""

    def __init__(self) -> None:
        super().__init__(CORRIDOR, nrm.compile("F(gem & F lava)", SYMBOLS), 8)
        self._generator = torch.Generator().manual_seed(0)

    @property
    def truth(self) -> Truth:
        true = super().truth
        wrong = torch.rand(true.label.shape, generator=self._generator) < 0.05
        other = (true.label + torch.randint(1, 3, true.label.shape, generator=self._generator)) % 3
        return true._replace(label=torch.where(wrong, other, true.label))


def made(**inference: float) -> Trainer:
    settings = {"algorithm": A2CConfig(learning_rate=3e-3), "inference": InferenceConfig(**inference)}  # type: ignore[arg-type]
    return new_trainer(Misleading(), "automata-learning", episodes=400, seed=1, settings=settings)


def test_the_machine_is_found_and_the_policy_sees_beliefs() -> None:
    trainer = made(label_noise=0.05, max_states=6)
    trainer.run()
    inference = trainer.inference
    assert inference is not None
    assert inference.versions[-1].right
    assert inference.hypothesis.states == 3
    assert inference.explained() == pytest.approx(1.0, abs=0.05)
    assert trainer.history.mean_return() > 90


def test_without_saying_so_training_ends_with_the_way_out() -> None:
    with pytest.raises(nrm.errors.ContradictionError, match="label_noise"):
        made().run()


def frames() -> torch.Tensor:
    return torch.arange(4.0)[:, None]


def misread_episodes(count: int, seed: int) -> list[RecordedEpisode]:
    """Letter 1 pays 50 once; a twentieth of all letters is wrong."""
    generator = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        cells = generator.integers(4, size=10)
        rewards = np.diff(np.where(np.maximum.accumulate(cells == 1), 50.0, 0.0), prepend=0.0)
        wrong = generator.random(10) < 0.05
        told = np.where(wrong, (cells + generator.integers(1, 4, 10)) % 4, cells)
        result.append(RecordedEpisode(0, float(rewards.sum()), 10, told, rewards, None))
    return result


def learned(count: int = 100) -> MachineLearning:
    learning = MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=4, label_noise=0.05))
    for start in range(0, count, 5):
        learning.add(misread_episodes(5, start))
    return learning


def test_the_memory_is_a_belief_that_levels_put_right() -> None:
    memory = learned().memory
    assert memory.table is None
    unused = torch.zeros(3, dtype=torch.int64)
    # Letter 1 and paid; letter 1 and not paid, so it was another one; letter 0 and paid, so it was letter 1.
    seen = Transition(torch.tensor([1, 1, 0]), None, unused, torch.tensor([50.0, 0.0, 50.0]), None)
    belief = memory.feature(memory.read(memory.start(3), seen))
    assert belief.shape == (3, 4)
    assert belief.sum(1).tolist() == pytest.approx([1.0] * 3)
    assert belief.max(1).values.min() > 0.9
    elsewhere = memory.on(frames().flip(0), nrm.machines.TaskSet.of(["F a"], nrm.Alphabet.exclusive("ab")))
    moved = Transition(torch.tensor([2, 2, 3]), None, unused, seen.reward, None)
    assert torch.allclose(elsewhere.feature(elsewhere.read(elsewhere.start(3), moved)), belief)


def test_learning_goes_on_from_a_saved_state() -> None:
    one, two = learned(60), MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=4, label_noise=0.05))
    two.load_state_dict(one.state_dict())
    for start in range(200, 300, 5):
        assert one.add(misread_episodes(5, start)) == two.add(misread_episodes(5, start))
    assert one.explained() == two.explained()


def test_the_machine_does_not_grow() -> None:
    assert learned(800).hypothesis.states == 2


def test_a_machine_that_fails_to_explain_is_warned_of_everywhere(tmp_path: Path) -> None:
    learning = MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=2))
    fine = RecordedEpisode(0, 50.0, 2, np.array([0, 1]), np.array([0.0, 50.0]), None)
    learning.add([fine])
    assert LearnedMachines.of(learning).warning() == ""
    # A third state would be needed.
    more = RecordedEpisode(0, 100.0, 2, np.array([1, 2]), np.array([50.0, 50.0]), None)
    learning.add([more, more, more])
    assert learning.explained() == 0.25
    found = LearnedMachines.of(learning)
    assert "explains 25% of the last episodes only" in found.warning()
    found.write(tmp_path)
    shown = learned_data(cast("Record", SimpleNamespace(path=tmp_path, seed=0)))
    assert shown is not None
    assert shown["warning"] == found.warning()
