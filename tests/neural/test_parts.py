"""Dict observations as rows of numbers, and the grounder that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

import nrm
from nrm.errors import EnvError, EpisodeError
from nrm.neural import (
    EpisodeBuffer,
    FitConfig,
    GruGrounder,
    NeuralRewardMachine,
    Parts,
    PartsGrounder,
    fit,
    load_model,
    save_model,
)
from nrm.neural.discovery import grounded_traces
from nrm.neural.layers import PartsEncoder

SPACE = spaces.Dict(
    {
        "image": spaces.Box(0, 255, (8, 8, 1), np.uint8),
        "place": spaces.Box(np.array([0, -10], np.float32), np.array([4, np.inf], np.float32)),
        "door": spaces.Discrete(3, start=-1),
        "lamps": spaces.MultiBinary(2),
        "dials": spaces.MultiDiscrete([2, 3]),
        "mask": spaces.Box(0, 1, (2, 2), np.float64),
    }
)


def test_rows_and_back() -> None:
    parts = Parts.of(SPACE)
    assert parts.width == 64 + 2 + 1 + 2 + 2 + 4
    SPACE.seed(0)
    single, batch = SPACE.sample(), [SPACE.sample() for _ in range(3)]
    together = {name: np.stack([each[name] for each in batch]) for name in SPACE}
    row, rows = parts.join(single), parts.join(together)
    assert row.shape == (75,)
    assert row.dtype == np.float32
    assert rows.shape == (3, 75)
    for name in SPACE:
        assert np.allclose(parts.split(row)[name], single[name])
        assert np.allclose(parts.split(rows)[name], together[name])
        assert np.allclose(parts.split(torch.from_numpy(rows))[name].numpy(), together[name])
        assert parts.split(rows)[name].shape == together[name].shape


def test_the_order_is_the_one_that_is_asked_for() -> None:
    parts = Parts.of(SPACE, ["door", "image"])
    assert [part.name for part in parts.parts] == ["door", "image"]
    assert str(parts) == "door 1, image 8x8x1"
    assert Parts.of(SPACE, ["image"]).dtype == np.uint8  # images alone stay small


def test_files_keep_parts() -> None:
    import json

    parts = Parts.of(SPACE)
    assert Parts.from_config(json.loads(json.dumps(parts.to_config()))) == parts
    assert not parts.fits(Parts.of(SPACE, list(SPACE)[::-1]))
    wider = spaces.Dict({**SPACE.spaces, "mask": spaces.Box(0, 9, (2, 2), np.float64)})
    assert parts.fits(Parts.of(wider))  # bounds say how to scale, and not what is what


def test_numbers_are_scaled_and_categories_one_hot() -> None:
    parts = Parts.of(SPACE, ["place", "door", "dials", "lamps"])
    encoder = PartsEncoder(parts, 16)
    assert encoder.numbers is not None
    read: list[torch.Tensor] = []
    encoder.numbers.register_forward_pre_hook(lambda module, given: read.append(given[0]))
    observation = {"place": [1.0, 7.0], "door": 1, "dials": [1, 0], "lamps": [1, 0]}
    encoder(torch.from_numpy(parts.join(observation))[None])
    #                             (1 - 2) / 2, 7 as it is, third of -1 0 1, second of 2, first of 3, lamps as -1 or 1
    assert read[0][0].tolist() == [-0.5, 7.0, 0, 0, 1, 0, 1, 1, 0, 0, 1, -1]


def test_images_are_scaled_by_their_own_type() -> None:
    parts = Parts.of(spaces.Dict(image=SPACE["image"], place=SPACE["place"]))
    encoder = PartsEncoder(parts, 8)
    read: list[torch.Tensor] = []
    seen: Any = encoder.images[0]
    seen.layers.register_forward_pre_hook(lambda module, given: read.append(given[0]))
    encoder(torch.from_numpy(parts.join({"image": np.full((8, 8, 1), 255), "place": [0, 0]}))[None])
    assert float(read[0].min()) == float(read[0].max()) == 1.0


@pytest.mark.parametrize(
    ("space", "reads", "message"),
    [
        (spaces.Dict(a=spaces.Dict(b=spaces.Discrete(2))), None, r"entry 'a'.*FlattenObservation"),
        (spaces.Dict(a=spaces.Tuple([spaces.Discrete(2)])), None, r"entry 'a'.*Tuple.*reads="),
        (SPACE, ["image", "plaec"], "no entry 'plaec'.*did you mean 'place'"),
        (SPACE, ["image", "image"], "each entry is read once"),
        (SPACE, [], "no entry to read"),
    ],
)
def test_what_cannot_be_read(space: spaces.Dict, reads: Any, message: str) -> None:
    with pytest.raises(EnvError, match=message):
        Parts.of(space, reads)


def test_wrong_shapes_are_named() -> None:
    parts = Parts.of(SPACE, ["place", "door"])
    with pytest.raises(EnvError, match=r"'place'.*\(3,\).*\(2,\)"):
        parts.join({"place": [1, 2, 3], "door": 0})
    grounder = PartsGrounder.from_parts(parts, 3)
    with pytest.raises(EpisodeError, match=r"\(3,\).*\(4,\)"):
        grounder(torch.zeros(2, 4))
    with pytest.raises(EpisodeError, match="entry"):
        PartsGrounder.from_shape((3,), 3)


def episodes(parts: Parts, count: int) -> EpisodeBuffer:
    """The symbol is a where the image is bright *and* the number is large; neither tells it alone."""
    machine = nrm.compile("F a", "a b")
    generator, buffer = np.random.default_rng(0), EpisodeBuffer.for_machine(machine)
    for _ in range(count):
        bright, large = generator.integers(2, size=(2, 5))
        images = np.where(bright[:, None, None, None] > 0, 255, 0) * np.ones((5, 8, 8, 1))
        places = np.stack([1.0 + 2 * large, np.zeros(5)], 1)
        reached = np.maximum.accumulate((bright & large) > 0)
        rows = parts.join({"image": images, "place": places})
        rewards = np.diff(100.0 * reached, prepend=0)
        buffer.add(rows, rewards=rewards, symbols=1 - (bright & large))
    return buffer


@pytest.mark.parametrize("kind", [PartsGrounder, GruGrounder])
def test_a_symbol_that_takes_image_and_vector(kind: Any, tmp_path: Path) -> None:
    parts = Parts.of(SPACE, ["image", "place"])
    torch.manual_seed(0)
    model = NeuralRewardMachine(kind.from_parts(parts, 2), nrm.compile("F a", "a b"))
    recorded = episodes(parts, 60)
    assert fit(model, recorded, "grounding", FitConfig()).explained
    if kind is PartsGrounder:
        assert (np.concatenate(grounded_traces(model, recorded)) == recorded.symbols()).all()
    again = load_model(save_model(tmp_path / "model.pt", model))
    assert again.grounder.parts == parts
    shown = torch.from_numpy(recorded.observations(recorded[0].seen))[None]
    assert torch.equal(again(shown).states, model(shown).states)
