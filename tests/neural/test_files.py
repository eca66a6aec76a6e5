"""Episode files and model files: there and back, and clear errors for everything else."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from nrm.errors import EpisodeFileError, FileError, ModelFileError
from nrm.neural import (
    CnnGrounder,
    Grounder,
    MlpGrounder,
    NeuralRewardMachine,
    PooledGrounder,
    ProbabilisticMoore,
    load_episodes,
    load_model,
    record_episodes,
    save_episodes,
    save_model,
)
from tests.neural.examples import SYMBOLS, task

OBSERVATIONS = [np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])]
REWARDS = [np.array([0.0, 50.0, 50.0]), np.array([0.0, 0.0])]
TRUE = [np.array([4, 0, 1]), np.array([4, 4])]


@pytest.mark.parametrize("repeat", [1, 20])
def test_episodes_come_back(tmp_path: Path, repeat: int) -> None:
    recorded = record_episodes(OBSERVATIONS * repeat, REWARDS * repeat, TRUE * repeat, SYMBOLS, {"env": "toy"})
    assert recorded.index is not None
    path = save_episodes(tmp_path / "deep" / "episodes", recorded)
    assert path.name == "episodes.npz"
    found = load_episodes(path)
    assert found.metadata == {"env": "toy"}
    assert found.symbol_names == SYMBOLS
    buffer = found.buffer(task(1))
    assert len(buffer) == 2 * repeat
    assert buffer.distinct == 2
    for number, episode in enumerate(buffer):
        assert buffer.observations(episode.seen).tolist() == OBSERVATIONS[number % 2].tolist()
        assert episode.symbols is not None
        assert episode.symbols.tolist() == TRUE[number % 2].tolist()
    assert buffer[0].levels.tolist() == [0, 1, 2]
    free = found.buffer()
    assert free.levels.tolist() == [0.0, 50.0, 100.0]


def test_observations_that_hardly_repeat_are_stored_as_they_are(tmp_path: Path) -> None:
    rows = np.arange(6.0).reshape(3, 2)
    recorded = record_episodes([rows], [np.zeros(3)])
    assert recorded.index is None
    found = load_episodes(save_episodes(tmp_path / "plain.npz", recorded))
    assert found.observations.tolist() == rows.tolist()
    assert len(found.buffer().batch().observations) == 3


def write(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lengths": None}, "lacks lengths; it has"),
        ({"verdicts": [True]}, "'verdicts' has 1 rows"),
        ({"verdicts": [0.5, 1.0]}, "'verdicts' must hold whole"),
        ({"lengths": [2, 2]}, "'observations' has 5 rows, but 'lengths' sum to 4 steps"),
        ({"lengths": [5, 0]}, "list of positive step counts"),
        ({"lengths": [2.0, 3.0]}, "'lengths' must hold whole numbers"),
        ({"rewards": [0, 0, np.nan, 0, 0]}, "'rewards' holds NaN or infinity at step 2"),
        ({"index": [0, 1, 2, 3, 9]}, "'index' names an observation outside 0 to 4"),
        ({"symbols": [0, 1]}, "'symbols' has 2 rows"),
        ({"symbols": [0, 1, 2, 3, -1]}, "negative number"),
        ({"metadata": "{"}, "'metadata' is not JSON"),
        ({"observations": ["a", "b", "c", "d", "e"]}, "'observations' must hold numbers"),
    ],
)
def test_malformed_episode_files_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    arrays: dict[str, object] = {"observations": np.zeros((5, 2)), "lengths": [2, 3], "rewards": np.zeros(5)}
    arrays = {name: value for name, value in (arrays | changes).items() if value is not None}
    with pytest.raises(EpisodeFileError, match=message) as caught:
        load_episodes(write(tmp_path / "bad.npz", **arrays))
    assert "bad.npz" in str(caught.value)


def test_files_that_hold_no_episodes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EpisodeFileError, match="there is no file"):
        load_episodes(tmp_path / "none.npz")
    text = tmp_path / "text.npz"
    text.write_text("hello")
    with pytest.raises(EpisodeFileError, match="episode file"):
        load_episodes(text)
    single = tmp_path / "single.npy"
    np.save(single, np.zeros(3))
    with pytest.raises(EpisodeFileError, match="episode file"):
        load_episodes(single)
    whole = save_episodes(tmp_path / "whole", record_episodes(OBSERVATIONS, REWARDS)).read_bytes()
    cut = tmp_path / "cut.npz"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EpisodeFileError, match="damaged"):
        load_episodes(cut)
    pickled = write(tmp_path / "pickled.npz", observations=np.array([object()]), lengths=[1], rewards=[0.0])
    with pytest.raises(EpisodeFileError, match="allow_pickle"):
        load_episodes(pickled)
    for place in range(0, len(whole), 3):
        flipped = bytearray(whole)
        flipped[place] ^= 0xFF
        cut.write_bytes(flipped)
        with contextlib.suppress(EpisodeFileError):  # some bytes are of no consequence
            load_episodes(cut)
    with pytest.raises(EpisodeFileError, match="no episodes to record"):
        record_episodes([], [])


@pytest.mark.parametrize(
    ("grounder", "shape"),
    [
        (MlpGrounder(2, 5, (8,), scale=0.5), (2,)),
        (MlpGrounder.paper(2, 5), (2,)),
        (CnnGrounder(5, (16, 12, 3), (4, 4), 8), (16, 12, 3)),
        (PooledGrounder(5, (16, 12, 3), 8), (16, 12, 3)),
    ],
)
def test_models_come_back(tmp_path: Path, grounder: Grounder, shape: tuple[int, ...]) -> None:
    for machine in (
        ProbabilisticMoore.from_machine(task(6)),
        ProbabilisticMoore.from_machine(task(6), dtype=torch.float64),
    ):
        model = NeuralRewardMachine(grounder, machine).eval()
        found = load_model(save_model(tmp_path / "model.pt", model))
        observations = torch.rand(2, 3, *shape, generator=torch.Generator().manual_seed(0))
        for expected, value in zip(model(observations), found(observations), strict=True):
            assert torch.equal(expected, value)
        assert found.machine.dtype == machine.dtype
        assert found.machine.alphabet == machine.alphabet


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = NeuralRewardMachine(MlpGrounder(2, 5), task(1))
    episodes = record_episodes(OBSERVATIONS, REWARDS)
    paths = [save_model(tmp_path / "model.pt", model), save_episodes(tmp_path / "episodes.npz", episodes)]
    before = [path.read_bytes() for path in paths]

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(FileError, match=r"model\.pt.*No space left"):
        save_model(paths[0], NeuralRewardMachine(MlpGrounder(3, 5), task(1)))
    with pytest.raises(FileError, match=r"episodes\.npz.*No space left"):
        save_episodes(paths[1], record_episodes(OBSERVATIONS[:1], REWARDS[:1]))
    assert [path.read_bytes() for path in paths] == before
    assert len(list(tmp_path.iterdir())) == 2


class Mine(nn.Module):
    """A user's own grounder."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 5)

    def forward(self, observations: Tensor) -> Tensor:
        return torch.softmax(self.layer(observations), -1)


def test_a_grounder_of_ones_own_is_given_to_load(tmp_path: Path) -> None:
    model = NeuralRewardMachine(Mine(), task(1))
    path = save_model(tmp_path / "mine.pt", model)
    found = load_model(path, grounder=Mine())
    observations = torch.rand(1, 3, 2)
    assert torch.equal(found(observations).states, model(observations).states)
    with pytest.raises(ModelFileError, match=r"load_model\(path, grounder="):
        load_model(path)
    with pytest.raises(ModelFileError, match="does not fit"):
        load_model(path, grounder=MlpGrounder(2, 5))


def test_files_that_hold_no_model_are_refused(tmp_path: Path) -> None:
    path = save_model(tmp_path / "model.pt", NeuralRewardMachine(MlpGrounder(2, 5), task(1)))
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 20):
        path.write_bytes(whole[:cut])
        with pytest.raises(ModelFileError, match="nrm-model"):
            load_model(path)
    with pytest.raises(ModelFileError, match="there is no file"):
        load_model(tmp_path / "none.pt")
    path.write_bytes(whole)
    content = torch.load(path, weights_only=True)
    for change, message in (
        ({"version": 99}, "has version 99; this release reads 1, 2"),
        ({"format": "other"}, "is of the format 'other'"),
        ({"machine": {}}, "does not fit"),
    ):
        torch.save(content | change, path)
        with pytest.raises(ModelFileError, match=message):
            load_model(path)


def test_loading_runs_no_code_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "evil.pt"
    torch.save({"format": "nrm-model", "version": 1, "payload": Evil(str(tmp_path / "ran"))}, path)
    with pytest.raises(ModelFileError, match="nrm-model"):
        load_model(path)
    assert not (tmp_path / "ran").exists()


class Evil:
    """Would create a file when unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (Path(self.path),))
