"""Evidence: unknown, noisy and judged episodes, by hand and against enumeration of all symbol strings."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

import nrm
from nrm.errors import ContradictionError, EpisodeError, LearningError
from nrm.machines import LevelCodec, MooreMachine, TaskSet
from nrm.neural import EpisodeBuffer, FitConfig, NeuralRewardMachine, contradiction, discover, fit
from nrm.neural.descent import marginal
from nrm.neural.em.steps import expected_letters
from nrm.neural.grounders import MlpGrounder
from tests.neural.examples import task

SOFT = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.2, 0.3, 0.5]])


class AsShown(nn.Module):
    """Observations are symbol probabilities."""

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return observations


def machine_of(formula: str, reward: str = "acceptance", symbols: tuple[str, ...] = ("a", "b", "c")) -> MooreMachine:
    return nrm.compile(formula, symbols, reward=reward)


def enumerated(machine: MooreMachine, symbols: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The likelihood of weights (time, potentials), the last state (states,) and the symbols (time, letters) given it.

    By the sum over all strings of letters.
    """
    whole, last, read = 0.0, np.zeros(machine.states), np.zeros_like(symbols)
    for letters in itertools.product(range(symbols.shape[1]), repeat=len(symbols)):
        state, probability = machine.initial, 1.0
        for step, letter in enumerate(letters):
            state = machine.next_state(state, letter)
            probability *= symbols[step, letter] * weights[step, machine.level_of_state[state]]
        whole += probability
        last[state] += probability
        read[np.arange(len(letters)), letters] += probability
    return whole, last / whole, read / whole


def evidence_of(kind: str, levels: int) -> np.ndarray:
    generator = np.random.default_rng(len(kind))
    weights = np.ones((len(SOFT), levels))
    if kind == "verdict":
        weights[-1] = [0, 1] if levels == 2 else [0] * (levels - 1) + [1]
    elif kind == "noisy":
        weights = np.where(np.eye(levels)[generator.integers(levels, size=len(SOFT))], 0.9, 0.1)
    elif kind == "gaps":
        weights[[1, 3]] = np.eye(levels)[[levels - 2, levels - 1]]
    else:
        weights = generator.uniform(size=weights.shape)
    return weights


@pytest.mark.parametrize("kind", ["verdict", "noisy", "gaps", "weights"])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("formula", "reward"), [("F(a & F b)", "acceptance"), ("F a & G !c", "distance")])
def test_likelihood_filter_and_posterior_are_those_of_all_strings(
    kind: str, several: bool, formula: str, reward: str
) -> None:
    machine = machine_of(formula, reward)
    weights = evidence_of(kind, len(machine.levels))
    other = machine_of("G !c", reward)
    tasks = TaskSet.of([machine, other]) if several else machine
    buffer = EpisodeBuffer.for_tasks(tasks) if isinstance(tasks, TaskSet) else EpisodeBuffer.for_machine(machine)
    columns = np.searchsorted(buffer.levels, machine.levels)
    wide = np.zeros((len(weights), len(buffer.levels)))
    wide[:, columns] = weights
    buffer.add(SOFT, evidence=wide, task=0 if several else None)
    model = NeuralRewardMachine(AsShown(), tasks).double()
    batch = buffer.batch()
    whole, last, read = enumerated(machine, SOFT, weights)
    assert float(model.batch_log_likelihood(batch, model.ground_batch(batch))[0]) == pytest.approx(
        math.log(whole), abs=1e-5
    )
    chain = model._chain(batch, model.ground_batch(batch), True)
    np.testing.assert_allclose(chain.filtered(model.machine.starts(batch))[0][-1, 0, : machine.states], last, atol=1e-5)
    found = expected_letters(model, batch, model.ground_batch(batch))
    np.testing.assert_allclose(found.counts[batch.seen[0]], read, atol=1e-5)


def test_a_verdict_by_hand() -> None:
    # F a over {a, b}: satisfied with probability 1 - 0.4 * 0.8 after two steps that show a with 0.6 and 0.2.
    machine = machine_of("F a", symbols=("a", "b"))
    model = NeuralRewardMachine(AsShown(), machine)
    shown = torch.tensor([[[0.6, 0.4], [0.2, 0.8]]])
    assert model.log_likelihood(shown, [[-1, 1]]).exp().item() == pytest.approx(0.68)
    assert model.log_likelihood(shown, [[-1, 0]]).exp().item() == pytest.approx(0.32)
    assert model.log_likelihood(shown, [[-1, -1]]).exp().item() == pytest.approx(1.0)
    # A judge who errs once in ten says yes with 0.9 * 0.68 + 0.1 * 0.32.
    noisy = model.filter(shown, [[-1, 2]], evidence=[[0.1, 0.9]])
    assert noisy.likelihoods[0].tolist() == pytest.approx([1.0, 0.644])
    done = int(np.flatnonzero(machine.accepting)[0])
    assert noisy.states[0, -1, done].item() == pytest.approx(0.612 / 0.644)
    # The posterior of the first symbol given the verdict: a with 0.6 / 0.68.
    buffer = EpisodeBuffer.for_machine(machine)
    buffer.add(shown[0].numpy(), verdict=True)
    batch = buffer.batch()
    counts = expected_letters(model, batch, model.ground_batch(batch)).counts
    assert counts[0].tolist() == pytest.approx([0.6 / 0.68, 0.08 / 0.68])
    # The open-loop cross-entropy of the paper counts the verdict alone.
    assert float(marginal(model, batch, model.ground_batch(batch))) == pytest.approx(-math.log(0.68) / 2)


def test_ways_to_say_the_same() -> None:
    machine = task(1)
    exact, said = EpisodeBuffer.for_machine(machine), EpisodeBuffer.for_machine(machine)
    last = len(machine.levels) - 1
    exact.add(np.eye(5)[[0, 1]], evidence=np.eye(last + 1)[[1, 2]])
    assert exact.evidence is None
    assert exact[0].levels.tolist() == [1, 2]
    said.add(np.eye(5)[[0, 1]], verdict=True)
    said.add(np.eye(5)[[0, 1]], levels=[-1, last])
    said.add(np.eye(5)[[0, 1]], levels=[None, last])
    said.add(np.eye(5)[[0, 1]], verdict=False)
    assert said[0].levels.tolist() == said[1].levels.tolist() == said[2].levels.tolist() == [last + 1, last]
    assert said.evidence is not None
    np.testing.assert_array_equal(said.evidence[said[3].levels[1]], [1] * last + [0])


def test_noise_is_a_row_of_the_confusion_matrix() -> None:
    machine = task(1)
    count = len(machine.levels)
    buffer = EpisodeBuffer.for_machine(machine)
    buffer.add(np.eye(5)[[0, 1]], levels=[0, -1], noise=0.1)
    buffer.add(np.eye(5)[[0, 1]], verdict=True, noise=0.1)
    assert buffer.evidence is not None
    first, unknown = buffer.evidence[buffer[0].levels]
    np.testing.assert_allclose(first, [0.9] + [0.1 / (count - 1)] * (count - 1))
    np.testing.assert_allclose(unknown, 1.0)
    np.testing.assert_allclose(buffer.evidence[buffer[1].levels[1]], [0.1] * (count - 1) + [0.9])


def test_rewards_after_an_unknown_one_tell_what_is_left() -> None:
    codec = LevelCodec([-100.0, 0.0, 50.0, 100.0], 0.0)
    nan = math.nan
    np.testing.assert_array_equal(codec.possible([50.0, nan, 50.0]), [[0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    np.testing.assert_array_equal(codec.possible([nan, -100.0]), [[0, 1, 0, 1], [1, 1, 0, 0]])
    np.testing.assert_array_equal(codec.possible([nan, nan]), np.ones((2, 4)))
    with pytest.raises(EpisodeError, match=r"step 1.*70"):
        codec.possible([50.0, nan, 70.0])


def test_contradictions_name_the_episode_and_the_step() -> None:
    machine = machine_of("F a & G !c")
    model = NeuralRewardMachine(MlpGrounder(3, 3), machine)
    buffer = EpisodeBuffer.for_machine(machine)
    buffer.add(SOFT, verdict=False)
    buffer.add(SOFT, levels=[-1, -1, -1, 1])
    buffer.add(SOFT[:3], levels=[-1, 1, -1])
    assert contradiction(model.machine, buffer.batch()) is None
    never = machine_of("a & X a & X X X false")
    judged = EpisodeBuffer.for_machine(never)
    judged.add(SOFT[:2], verdict=False)
    judged.add(SOFT[:1], verdict=False)
    judged.add(SOFT[:3], verdict=True)
    with pytest.raises(ContradictionError) as found:
        fit(NeuralRewardMachine(MlpGrounder(3, 3), never), judged)
    assert found.value.episode == 2


@pytest.mark.parametrize(
    "given",
    [
        {"levels": [0, 0, 0, 9]},
        {"levels": [0, 0, 0, -2]},
        {"evidence": [[1.0, 0.0]] * 3 + [[math.nan, 0.0]]},
        {"evidence": [[1.0, 0.0]] * 3 + [[-1.0, 0.0]]},
        {"evidence": [[1.0, 0.0, 0.0]] * 4},
        {"evidence": [[1.0, 0.0]] * 3},
        {"verdict": True, "levels": [0, 0, 0, 1]},
        {"verdict": True, "noise": 1.0},
        {},
    ],
)
def test_bad_evidence(given: dict[str, object]) -> None:
    buffer = EpisodeBuffer.for_machine(machine_of("F a"))
    with pytest.raises(EpisodeError, match="episode 0"):
        buffer.add(SOFT, **given)  # type: ignore[arg-type]


def test_verdicts_need_potentials_that_tell_them() -> None:
    with pytest.raises(EpisodeError, match="acceptance"):
        EpisodeBuffer([0.0, 1.0]).add(SOFT, verdict=True)


def test_machines_are_not_inferred_from_what_is_unknown() -> None:
    buffer = EpisodeBuffer.for_machine(machine_of("F a"))
    buffer.add(SOFT, verdict=True)
    with pytest.raises(LearningError, match="exactly"):
        discover(buffer, 3)


def judged_letters(machine: MooreMachine, count: int, seed: int = 0) -> EpisodeBuffer:
    """Strings of letters, shown as they are, with their verdicts."""
    generator = np.random.default_rng(seed)
    buffer = EpisodeBuffer.for_machine(machine)
    for _ in range(count):
        letters = generator.integers(machine.alphabet.size, size=generator.integers(1, 6))
        accepted = machine.accepts([machine.alphabet.symbols[letter] for letter in letters])
        buffer.add(np.eye(machine.alphabet.size, dtype=np.float32)[letters], verdict=accepted, symbols=letters)
    return buffer


@pytest.mark.parametrize("objective", ["em", "sequence", "marginal"])
def test_symbols_are_learned_from_verdicts(objective: str) -> None:
    machine = machine_of("F(a & F b)")
    torch.manual_seed(0)
    model = NeuralRewardMachine(MlpGrounder(3, 3), machine)
    record = fit(model, judged_letters(machine, 150), config=FitConfig(objective=objective, restarts=8))  # type: ignore[arg-type]
    assert record.explained
    assert model.letters(model.ground(torch.eye(3))).tolist() == [0, 1, 2]


def test_verdicts_on_observations_without_end_are_learned_by_regularised_descent() -> None:
    machine, generator = machine_of("F(a & F b)"), np.random.default_rng(0)
    letters, buffer = judged_letters(machine, 150), EpisodeBuffer.for_machine(machine)
    for episode in letters:
        assert episode.symbols is not None
        shown = np.eye(3)[episode.symbols] + generator.normal(0, 0.1, (len(episode), 3))
        names = [machine.alphabet.symbols[letter] for letter in episode.symbols]
        buffer.add(shown.astype(np.float32), verdict=machine.accepts(names))
    torch.manual_seed(0)
    model = NeuralRewardMachine(MlpGrounder(3, 3), machine)
    record = fit(model, buffer, config=FitConfig(restarts=8))
    assert record.objective == "regularised"
    assert record.explained
    assert model.letters(model.ground(torch.eye(3))).tolist() == [0, 1, 2]


def test_restarts_end_when_none_improves() -> None:
    machine, buffer = machine_of("F(a & F b)"), EpisodeBuffer.for_machine(machine_of("F(a & F b)"))
    generator = np.random.default_rng(0)
    for number in range(40):  # noise, which nothing explains
        buffer.add(generator.normal(size=(4, 2)).astype(np.float32), verdict=number % 2 == 0)
    record = fit(NeuralRewardMachine(MlpGrounder(2, 3), machine), buffer, config=FitConfig(restarts=16, epochs=20))
    assert not record.explained
    assert 4 < len(record.attempts) < 16
