"""Grounders: what they read, how one is chosen, and those that come from outside of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from nrm.errors import ConfigError, EpisodeError, ModelFileError
from nrm.neural import (
    GROUNDERS,
    CnnGrounder,
    MlpGrounder,
    NeuralRewardMachine,
    PooledGrounder,
    TrueLabels,
    grounder_for,
    load_model,
    save_model,
)
from tests.neural.examples import task

OUTSIDE = """
import torch
from nrm.neural import Grounder

class Narrow(Grounder):
    name = "narrow"
    label = "one layer"

    def __init__(self, inputs, symbols, independent=False):
        super().__init__(independent, inputs=inputs, symbols=symbols)
        self.layer = torch.nn.Linear(inputs, symbols)

    @classmethod
    def from_shape(cls, shape, symbols, independent=False):
        return cls(shape[0], symbols, independent)

    def forward(self, observations):
        return self.probabilities(self.layer(observations))

class Shapeless(Grounder):
    name = "shapeless"
    label = "lacks a part"
"""


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a grounder in a module of its own, in which the test runs."""
    (tmp_path / "outside_grounders.py").write_text(OUTSIDE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "outside_grounders", raising=False)
    return tmp_path


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("name", ["mlp", "cnn", "pooled", "auto", "paper"])
def test_every_entry_builds_from_a_shape(name: str, independent: bool) -> None:
    grounder = GROUNDERS[name].from_shape((16, 16, 3), 4, independent).eval()
    odds = grounder(torch.randint(0, 256, (2, 16, 16, 3), dtype=torch.uint8))
    assert odds.shape == (2, 4)
    assert torch.allclose(odds.sum(-1), torch.ones(2)) is not independent


def test_rows_of_a_sensor_are_read_by_their_greatest_bin_and_alike() -> None:
    grounder: Any = grounder_for((8,), 3, sensor=(2, 3))
    kind: Any = GROUNDERS["rows"]
    assert type(grounder) is kind
    seen = torch.tensor([[9.0, -9.0, 0.1, 0.8, 0.3, 0.0, 0.2, 0.5]])
    turned = torch.tensor([[0.0, 7.0, 0.8, 0.0, 0.2, 0.5, 0.1, 0.0]])  # other bins, and other numbers before them
    torch.testing.assert_close(grounder(seen), grounder(turned))
    with torch.no_grad():
        weight = grounder.head.weight
        weight[:, 32:] = weight[:, :32]  # rows of equal meaning may be exchanged
    swapped = torch.cat([seen[:, :2], seen[:, 5:], seen[:, 2:5]], 1)
    torch.testing.assert_close(grounder(seen), grounder(swapped))
    assert not torch.allclose(grounder(seen), grounder(seen + 0.1))
    with pytest.raises(EpisodeError, match="8"):
        kind.from_shape((8,), 3)


def test_a_grounder_from_outside_is_found_saved_and_loaded(outside: Path) -> None:
    grounder = GROUNDERS["outside_grounders:Narrow"].from_shape((2,), 5)
    model = NeuralRewardMachine(grounder, task(1))
    path = save_model(outside / "model.pt", model)
    observations = torch.rand(1, 3, 2)
    assert torch.equal(load_model(path, trust=True)(observations).states, model(observations).states)
    # In a process of its own, nobody has imported the module yet.
    code = "from nrm.neural import load_model; print(type(load_model('model.pt', trust=True).grounder).__name__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "Narrow"
    (outside / "outside_grounders.py").write_text("import torch\nraise RuntimeError('out of order')\n")
    sys.modules.pop("outside_grounders")
    with pytest.raises(ModelFileError, match=r"RuntimeError: out of order.*line 2.*load_model"):
        load_model(path, trust=True)
    assert load_model(path, grounder=type(grounder)(2, 5)).machine.states == 4


def test_what_is_no_grounder_is_refused(outside: Path) -> None:
    with pytest.raises(ConfigError, match=r"lacks from_shape$"):
        GROUNDERS["outside_grounders:Shapeless"]
    with pytest.raises(ConfigError, match=r"'poled'.*'pooled'.*mlp"):
        GROUNDERS["poled"]


def test_grounders_fit_what_they_see() -> None:
    assert isinstance(grounder_for((64, 64, 3), 5), CnnGrounder)
    assert isinstance(grounder_for((64, 64, 3), 5, continuous=True), PooledGrounder)
    assert isinstance(grounder_for((2,), 5, continuous=True), MlpGrounder)
    assert isinstance(GROUNDERS["paper"].from_shape((64, 64, 3), 5), CnnGrounder)
    assert GROUNDERS["paper"].from_shape((2,), 5).config == MlpGrounder.paper(2, 5).config
    assert isinstance(grounder_for((2,), 5), MlpGrounder)
    assert isinstance(grounder_for((), 5), MlpGrounder)
    whole = torch.randint(0, 256, (2, 16, 16, 3), dtype=torch.uint8)
    network = CnnGrounder(5, (16, 16, 3), hidden=8)
    # Bytes and their fractions are the same picture.
    torch.testing.assert_close(network(whole), network(whole / 255))
    torch.testing.assert_close(network(whole).sum(-1), torch.ones(2))
    torch.testing.assert_close(TrueLabels(3)(torch.tensor([2, 0])), torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    odds = MlpGrounder(2, 3, independent=True)(torch.rand(4, 2))
    assert bool(((odds > 0) & (odds < 1)).all())


def test_the_pooled_grounder_goes_by_looks_and_not_by_place() -> None:
    network = PooledGrounder(5, (128, 128, 3))
    images = torch.zeros(3, 128, 128, 3, dtype=torch.uint8)
    item = torch.randint(0, 255, (16, 16, 3), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    images[0, 48:64, 48:64] = item
    images[1, 64:80, 56:72] = item
    images[2, 48:64, 48:64] = item.flip(0)
    here, there, other = network(images)
    torch.testing.assert_close(here, there)
    assert not torch.allclose(here, other, atol=1e-6)
