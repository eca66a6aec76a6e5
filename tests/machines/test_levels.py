"""Rewards to potentials: sums, tolerance at every scale, and errors that name the step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nrm
from nrm.errors import EpisodeError
from nrm.machines import LevelCodec, with_rewards

LEVELS = [0.0, 50.0, 100.0]
SYMBOLS = ("a", "b", "c", "d", "e")


def test_levels_are_sums_of_rewards() -> None:
    assert LevelCodec(LEVELS, 0.0).encode([0, 50, 0, 50]).tolist() == [0, 1, 1, 2]
    thirds = LevelCodec([0, 100 / 3, 200 / 3, 100], 0.0)
    assert thirds.encode(np.array([33.3333, 33.3333], dtype=np.float32)).tolist() == [1, 2]
    assert LevelCodec(LEVELS, 100.0).encode([-50.0]).tolist() == [1]
    assert LevelCodec(LEVELS, 0.0).encode([]).tolist() == []


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("number", range(1, 9))
def test_rewards_of_runs_give_their_levels_back_at_every_scale(number: int, factor: float) -> None:
    plain = nrm.compile(nrm.logic.paper_task(number).formula(), SYMBOLS, reward="acceptance")
    machine = with_rewards(plain, lambda scaled: scaled.outputs * factor)
    run = machine.run(machine.alphabet.decode(np.random.default_rng(number).integers(5, size=30).tolist()))
    codec = LevelCodec.of(machine)
    paid = np.array(run.rewards, dtype=np.float32)
    found = codec.encode(paid)
    assert machine.levels[found].tolist() == list(run.outputs[1:])
    assert codec.snap(float(paid.sum())) == run.outputs[-1] - run.outputs[0]
    with pytest.raises(EpisodeError, match="never outputs"):
        codec.encode([0.0, 0.5 * factor])  # half way between two potentials


def test_rewards_that_make_no_level_are_refused() -> None:
    codec = LevelCodec(LEVELS, 0.0)
    with pytest.raises(EpisodeError, match=r"episode 7, step 1.*\b25\b.*0, 50, 100"):
        codec.encode([0, 25], "episode 7")
    with pytest.raises(EpisodeError, match="sum to nan"):
        codec.encode([np.nan])
    with pytest.raises(EpisodeError, match=r"\(1, 1\)"):
        codec.encode([[0.0]])
    with pytest.raises(EpisodeError, match="initial potential"):
        LevelCodec(LEVELS).encode([0.0])
    for levels in ([], [np.inf], [[0.0]]):
        with pytest.raises(EpisodeError, match=r"potentials.*finite"):
            LevelCodec(levels)


def test_arrays_and_tensors_are_read_alike() -> None:
    values = [0.04, 24.0, 26.0, 99.95, 101.0, float("nan")]
    codec, tensors = LevelCodec(LEVELS), LevelCodec(torch.tensor(LEVELS))
    assert codec.slack == tensors.slack == pytest.approx(0.1)
    assert codec.nearest(np.array(values))[:5].tolist() == [0, 0, 1, 2, 2]
    assert tensors.nearest(torch.tensor(values))[:5].tolist() == [0, 0, 1, 2, 2]
    assert codec.fits(np.array(values)).tolist() == [True, False, False, True, False, False]
    assert tensors.fits(torch.tensor(values)).tolist() == [True, False, False, True, False, False]


def test_only_sums_that_lead_to_a_level_are_snapped() -> None:
    codec = LevelCodec([-100.0, 0.0, 100.0], -100.0)
    assert codec.snap(99.99999) == 100.0
    assert codec.snap(15.0) == 15.0
    assert np.isnan(codec.snap(float("nan")))


def test_levels_that_rewards_show() -> None:
    codec = LevelCodec.observed([[0, 50, 50], [-100]])
    assert codec.levels.tolist() == [-100.0, 0.0, 50.0, 100.0]
    assert codec.initial == 0.0


def test_a_machine_with_one_level_has_some_slack() -> None:
    assert LevelCodec([5.0]).slack == pytest.approx(1e-3)
