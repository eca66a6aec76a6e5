"""Posterior letters against the enumeration of all readings of an episode."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import nrm
from nrm.machines import MooreMachine
from nrm.neural import Emission, EpisodeBuffer, NeuralRewardMachine, disputed
from nrm.neural.em.steps import evidence, evidence_loss, expected_letters, posterior
from nrm.neural.episodes import EpisodeBatch

EXCLUSIVE = nrm.compile("F(a & F b) & G !c", "a b c")
PROPOSITIONS = nrm.compile("F(a & X F b)", propositions="a b")


def model_of(machine: MooreMachine, emission: Emission = "categorical") -> NeuralRewardMachine:
    return NeuralRewardMachine(nn.Identity(), machine, emission)


def episode_batch(machine: MooreMachine, seen: list[list[int]], letters: list[list[int]]) -> EpisodeBatch:
    """Episodes in which these observations were made and these letters truly read."""
    time = max(map(len, seen))
    index, levels = torch.zeros(2, len(seen), time, dtype=torch.int64)
    for row, (made, read) in enumerate(zip(seen, letters, strict=True)):
        state = machine.initial
        for step, letter in enumerate(read):
            state = machine.next_state(state, letter)
            index[row, step], levels[row, step] = made[step], int(machine.level_of_state[state])
    lengths = torch.tensor([len(made) for made in seen])
    return EpisodeBatch(torch.zeros(1), index, levels, lengths, -torch.ones_like(lengths))


def enumerated(machine: MooreMachine, batch: EpisodeBatch, probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Log-likelihoods, and expected letters of each observation, from all readings of each episode."""
    counts = torch.zeros_like(probabilities)
    logs = []
    for seen, levels, length in zip(batch.seen.tolist(), batch.levels.tolist(), batch.lengths.tolist(), strict=True):
        total, weighed = 0.0, torch.zeros_like(probabilities)
        for reading in product(range(machine.alphabet.size), repeat=length):
            state, chance = machine.initial, 1.0
            for step, letter in enumerate(reading):
                state = machine.next_state(state, letter)
                right = machine.level_of_state[state] == levels[step]
                chance *= float(probabilities[seen[step], letter]) * bool(right)
            total += chance
            for step, letter in enumerate(reading):
                weighed[seen[step], letter] += chance
        counts += weighed / total
        logs.append(total)
    return torch.tensor(logs, dtype=torch.float64).log(), counts


def case(machine: MooreMachine, draw: st.DataObject) -> tuple[EpisodeBatch, list[int]]:
    lengths = draw.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    letters = [draw.draw(st.lists(st.integers(0, machine.alphabet.size - 1), min_size=n, max_size=n)) for n in lengths]
    seen = [draw.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for n in lengths]
    return episode_batch(machine, seen, letters), lengths


@pytest.mark.parametrize("machine", [EXCLUSIVE, PROPOSITIONS])
@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(0, 10**6))
def test_posteriors_are_those_of_all_readings(machine: MooreMachine, data: st.DataObject, seed: int) -> None:
    batch, _ = case(machine, data)
    generator = torch.Generator().manual_seed(seed)
    said = torch.softmax(torch.randn(3, machine.alphabet.size, dtype=torch.float64, generator=generator), -1)
    found = expected_letters(model_of(machine).double(), batch, said)
    logs, counts = enumerated(machine, batch, said)
    torch.testing.assert_close(found.log_likelihood, logs)
    torch.testing.assert_close(found.counts, counts)
    torch.testing.assert_close(found.counts.sum(-1), found.occurrences)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(0, 10**6))
def test_posteriors_of_independent_propositions(data: st.DataObject, seed: int) -> None:
    machine = PROPOSITIONS
    batch, _ = case(machine, data)
    generator = torch.Generator().manual_seed(seed)
    said = torch.rand(3, 2, dtype=torch.float64, generator=generator) * 0.9 + 0.05
    bits = torch.tensor([[letter >> bit & 1 for bit in range(2)] for letter in range(4)], dtype=torch.float64)
    letters = torch.where(bits.bool(), said[:, None], 1 - said[:, None]).prod(-1)
    found = expected_letters(model_of(machine, "independent").double(), batch, said)
    logs, counts = enumerated(machine, batch, letters)
    torch.testing.assert_close(found.log_likelihood, logs)
    torch.testing.assert_close(found.counts, counts @ bits)


def test_what_was_never_seen_stays_what_it_was() -> None:
    model = model_of(EXCLUSIVE)
    batch = episode_batch(EXCLUSIVE, [[0, 1]], [[0, 1]])
    said = torch.softmax(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)), -1)
    shares = posterior(model, expected_letters(model, batch, said), said)
    torch.testing.assert_close(shares[2], said[2])
    torch.testing.assert_close(shares.sum(-1), torch.ones(3))


def test_evidence_is_what_the_rewards_allow_whatever_was_said_before() -> None:
    # `F(a & F b) & G !c`: the first reward says a, and the second, of nothing, that it was neither b nor c.
    model = model_of(EXCLUSIVE)
    batch = episode_batch(EXCLUSIVE, [[0, 1]], [[0, 0]])
    said = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.6, 0.3]])
    told = evidence(expected_letters(model, batch, said), said)
    torch.testing.assert_close(told, torch.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    # After nothing but b, which changes nothing, both a letter that was read once and one never read are told apart.
    idle = evidence(expected_letters(model, episode_batch(EXCLUSIVE, [[0]], [[1]]), said), said)
    torch.testing.assert_close(idle, torch.tensor([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]))
    torch.testing.assert_close(evidence_loss(said, told), torch.tensor([0.2, 0.1]).log().neg())


def test_ten_thousand_steps_stay_finite() -> None:
    model = model_of(EXCLUSIVE)
    letters = [2 if step == 9_999 else 0 for step in range(10_000)]
    batch = episode_batch(EXCLUSIVE, [[step % 3 for step in range(10_000)]], [letters])
    said = torch.full((3, 3), 1 / 3)
    found = expected_letters(model, batch, said)
    assert torch.isfinite(found.counts).all()
    torch.testing.assert_close(found.counts.sum(-1), found.occurrences, rtol=1e-3, atol=1e-2)


def test_letters_as_symbols() -> None:
    assert model_of(EXCLUSIVE).distribution.of_letters(torch.tensor([2])).tolist() == [[0, 0, 1]]
    assert model_of(PROPOSITIONS, "independent").distribution.of_letters(torch.tensor([2, 3])).tolist() == [
        [0, 1],
        [1, 1],
    ]


def test_symbols_that_rewards_dispute_are_counted() -> None:
    # Rewards say a, then b. The grounder says a, then c: three episodes dispute b, which it takes for c.
    episodes = EpisodeBuffer.for_machine(EXCLUSIVE)
    for _ in range(3):
        episodes.add(torch.tensor([[0.98, 0.01, 0.01], [0.2, 0.3, 0.5]]).numpy(), rewards=[50.0, 50.0])
    assert disputed(model_of(EXCLUSIVE), episodes) == [(2, 1, 3)]


def test_propositions_that_rewards_dispute_are_counted() -> None:
    # The first step pays if a is true, b or no b; the grounder says that nothing is, and that b hardly could be.
    machine = nrm.compile("F a", propositions="a b")
    episodes = EpisodeBuffer.for_machine(machine)
    episodes.add(torch.tensor([[0.2, 0.1]]).numpy(), rewards=[100.0])
    named = machine.alphabet
    assert disputed(model_of(machine, "independent"), episodes) == [(named.letter([]), named.letter(["a"]), 1)]
