"""Learning from numbers of patches is learning from images."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import nrm
from nrm.neural import EpisodeBuffer, FitConfig, NeuralRewardMachine, fit
from nrm.neural.descent import LearningProblem
from nrm.neural.em.network import PatchedGrounder, on_patches
from nrm.neural.grounders import AttendingGrounder
from nrm.neural.layers import narrow_convolution

SYMBOLS = ("a", "b", "empty")


def painted(letter: int, row: int, column: int) -> NDArray[Any]:
    """A picture of 32x32 pixels with a tile of 8x8 somewhere, which is of another colour for each letter."""
    image = np.zeros((32, 32, 3), dtype=np.uint8)
    image[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = (60, 60, 60)
    image[8 * row + 2 : 8 * row + 6, 8 * column + 2 : 8 * column + 6, letter] = 250
    return image


def recorded(machine: nrm.MooreMachine, episodes: int = 60) -> EpisodeBuffer:
    drawn = np.random.default_rng(0)
    buffer = EpisodeBuffer.for_machine(machine)
    for _ in range(episodes):
        letters = drawn.integers(3, size=6)
        images = np.stack([painted(letter, *drawn.integers(4, size=2)) for letter in letters])
        buffer.add(images, rewards=machine.run([SYMBOLS[letter] for letter in letters]).rewards)
    return buffer


def problem_of(model: NeuralRewardMachine, buffer: EpisodeBuffer) -> LearningProblem:
    half = len(buffer) // 2
    everything = buffer.batch()
    batches = (everything.pick(torch.arange(half)), everything.pick(torch.arange(half, len(buffer))), everything)
    return LearningProblem(model, *batches, FitConfig())


def test_a_grounder_says_the_same_of_patches() -> None:
    machine = nrm.compile("F(a & F b)", SYMBOLS)
    torch.manual_seed(0)
    model = NeuralRewardMachine(AttendingGrounder(3, (32, 32, 3)), machine)
    problem = problem_of(model, recorded(machine))
    patched = on_patches(problem)
    assert isinstance(patched.model.grounder, PatchedGrounder)
    assert patched.train.observations.shape == (len(problem.train.observations), 16)
    for got, expected in ((patched.train, problem.train), (patched.held_out, problem.held_out)):
        torch.testing.assert_close(patched.model.said_batch(got), model.said_batch(expected))


def test_what_cannot_be_told_by_patches_is_learned_from_as_it_is() -> None:
    machine = nrm.compile("F(a & F b)", SYMBOLS)
    model = NeuralRewardMachine(AttendingGrounder(3, (8, 8, 3)), machine)  # cells, not patches
    buffer = EpisodeBuffer.for_machine(machine)
    for _ in range(4):
        buffer.add(np.zeros((3, 8, 8, 3), dtype=np.uint8), rewards=[0.0, 0.0, 0.0])
    problem = problem_of(model, buffer)
    assert on_patches(problem) is problem


def test_symbols_are_learned_from_patches() -> None:
    machine = nrm.compile("F(a & F b)", SYMBOLS)
    torch.manual_seed(0)
    model = NeuralRewardMachine(AttendingGrounder(3, (32, 32, 3)), machine)
    fit(model, recorded(machine, 200), "grounding", FitConfig(epochs=600, seed=0))
    assert isinstance(model.grounder, AttendingGrounder)
    images = torch.from_numpy(np.stack([painted(letter, row, row) for letter in range(2) for row in range(4)]))
    assert model.ground(images).argmax(-1).tolist() == [0] * 4 + [1] * 4


def test_narrow_convolutions_are_convolutions() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(6, 2, 3, padding=1)
    maps = torch.randn(3, 6, 5, 7)
    torch.testing.assert_close(narrow_convolution(layer, maps), layer(maps))
    across = maps.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    torch.testing.assert_close(narrow_convolution(layer, across), layer(maps))
