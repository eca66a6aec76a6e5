"""Attention that what moves teaches."""

import math

import pytest
import torch

from nrm.neural.em.network import pretrain_attention
from nrm.neural.episodes import pack
from nrm.neural.grounders.cnn import AttendingGrounder
from nrm.neural.grounders.mlp import MlpGrounder
from nrm.neural.layers import attention_loss, changed_places


def test_places_that_change_are_those_whose_pixels_do() -> None:
    before = torch.zeros(2, 16, 16, 3, dtype=torch.uint8)
    after = before.clone()
    after[0, 9, 3, 1] = 7  # the lower left of 2x2 places, in one channel
    assert changed_places(before, after, (2, 2)).tolist() == [[0, 0, 1, 0], [0, 0, 0, 0]]


def test_what_is_missed_is_minus_log_of_attention_there_by_hand() -> None:
    places = torch.zeros(3, 8)
    places[0, 1] = places[0, 2] = 1.0  # two of eight: this pair counts
    places[2] = 1.0  # all of them: the view has moved; and pair 1 does not differ at all
    even, sharp = torch.full((3, 8), 1 / 8), torch.zeros(3, 8)
    sharp[:, 1] = 1.0
    assert float(attention_loss([even], places)) == pytest.approx(-math.log(2 / 8))
    assert float(attention_loss([even, sharp], places)) == pytest.approx(-math.log(2 / 8) / 2)
    heads = torch.stack([even, sharp], 1)  # (n, heads, places): their mean
    assert float(attention_loss([heads], places)) == pytest.approx(-math.log(2 / 8) / 2)
    assert float(attention_loss([even], torch.ones(3, 8))) == 0.0


def walks(count: int, time: int, generator: torch.Generator) -> torch.Tensor:
    """(count, time, 32, 32, 3) images: still things of one look, and one of another that walks about on 4x4 cells."""
    images = torch.full((count, time, 4, 4, 3), 250, dtype=torch.uint8)
    for episode in range(count):
        still = torch.randperm(16, generator=generator)[:3]
        images[episode, :, still // 4, still % 4] = torch.tensor([200, 40, 40], dtype=torch.uint8)
        place = torch.randint(16, (time,), generator=generator)
        images[episode, torch.arange(time), place // 4, place % 4] = torch.tensor([0, 90, 200], dtype=torch.uint8)
    return images.repeat_interleave(8, 2).repeat_interleave(8, 3)


def test_the_walker_is_looked_at_once_it_was_noticed() -> None:
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    images = walks(20, 10, generator)
    grounder = AttendingGrounder.from_shape((32, 32, 3), 3)
    before, after = images[:, :-1].flatten(0, 1), images[:, 1:].flatten(0, 1)
    assert float(grounder.attention_loss(before, after).detach()) > 1.0
    pretrain_attention(grounder, pack(images, None), generator)
    assert float(grounder.attention_loss(before, after).detach()) < 0.1


def test_grounders_that_attend_to_nothing_stay_as_they_are() -> None:
    grounder = MlpGrounder.from_shape((2,), 3)
    was = [value.clone() for value in grounder.parameters()]
    pretrain_attention(grounder, pack(torch.rand(3, 4, 2), None), torch.Generator())
    assert all(torch.equal(one, other) for one, other in zip(was, grounder.parameters(), strict=True))
