"""Recurrent grounders: a state through the episode, in models, learning and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import nrm
from nrm.errors import AlphabetError, EpisodeError, LearningError, ProbabilityError
from nrm.neural import (
    EpisodeBuffer,
    FitConfig,
    GruGrounder,
    MlpGrounder,
    NeuralRewardMachine,
    RecurrentGrounder,
    discover,
    fit,
    load_model,
    save_model,
)
from nrm.neural.discovery import grounded_traces
from nrm.neural.em.steps import expected_letters
from nrm.neural.em.table import windows
from nrm.neural.episodes import pack
from nrm.tracking import UpdateConfig
from tests.neural.examples import of_several_tasks, slow_log_likelihood

MACHINE = nrm.compile("F a & F b & G(a -> WX G !a) & G(b -> WX G !b)", "a b c")
"""One of each: which of the two came first must be remembered, and pays alike."""


class Delayed(RecurrentGrounder):
    """Says the letter that the observation before showed, and c at first; its state is that letter."""

    name = "delayed"
    label = "one step late"
    width = 1

    def __init__(self, symbols: int, sure: float = 1.0, independent: bool = False) -> None:
        super().__init__(independent, symbols=symbols, sure=sure)
        self.sure = torch.nn.Parameter(torch.tensor(float(sure)))
        self.symbols = symbols

    @classmethod
    def from_shape(cls, shape: Any, symbols: int, independent: bool = False) -> Delayed:
        return cls(symbols, independent=independent)

    def start(self, count: int) -> Tensor:
        return torch.full((count, 1), 2.0)

    def read(self, encoded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        said = torch.nn.functional.one_hot(state[:, 0].long(), self.symbols) * self.sure
        return said + (1 - self.sure) / self.symbols, encoded[:, None].float()

    def encode(self, observations: Tensor) -> Tensor:
        return (
            observations.argmax(1) if observations.dim() > 1 and observations.shape[1] > 1 else observations.flatten()
        )


def delayed_episodes(count: int, seed: int = 0, length: int = 12, first: bool = False) -> EpisodeBuffer:
    """Random numbers, of which each is a symbol only one step later; they end when the task is over.

    `first`: whether the first symbol is any, which no observation shows.
    """
    generator = np.random.default_rng(seed)
    buffer = EpisodeBuffer.for_machine(MACHINE)
    for _ in range(count):
        shown = generator.choice(3, size=length, p=(0.2, 0.2, 0.6))
        letters = np.concatenate([[generator.integers(3) if first else 2], shown[:-1]])
        states = MACHINE.run([MACHINE.alphabet.symbols[letter] for letter in letters]).states[-length:]
        levels = [int(MACHINE.level_of_state[state]) for state in states]
        over = np.flatnonzero(np.abs(MACHINE.outputs[np.array(states)]) == 100)
        end = int(over[0]) + 1 if over.size else length
        one_hot = np.eye(3, dtype=np.float32)[shown]
        buffer.add(one_hot[:end], levels=levels[:end], symbols=letters[:end])
    return buffer


def gru(seed: int = 0, symbols: int = 3, shape: tuple[int, ...] = (3,)) -> GruGrounder:
    torch.manual_seed(seed)
    return GruGrounder.from_shape(shape, symbols)


def test_a_state_by_hand() -> None:
    model = NeuralRewardMachine(Delayed(3), MACHINE)
    shown = torch.tensor([[0, 2, 1, 2], [1, 1, 2, 0]])
    found = model(shown, lengths=[4, 3])
    letters, states = model.letters(found.symbols).tolist(), found.states.argmax(-1)
    assert (letters[0], letters[1][:3]) == ([2, 0, 2, 1], [2, 1, 1])
    assert [MACHINE.outputs[state] for state in states[0].tolist()] == [0, 50, 50, 100]
    assert MACHINE.outputs[int(states[1, 2])] == -100  # b twice


def test_step_by_step_is_the_whole_episode() -> None:
    model = NeuralRewardMachine(gru(), MACHINE).eval()
    shown = torch.randn(4, 7, 3)
    whole = model(shown)
    belief = carry = None
    for time in range(7):
        step = model.step(shown[:, time], belief, carry=carry)
        assert torch.allclose(step.symbols, whole.symbols[:, time], atol=1e-6)
        assert torch.allclose(step.belief, whole.states[:, time], atol=1e-6)
        belief, carry = step.belief, step.carry
    with pytest.raises(EpisodeError, match=r"carry=step\.carry"):
        model.step(shown[:, 0], belief)
    with pytest.raises(EpisodeError, match=r"state.*\(4, 2\).*\(4, 64\)"):
        model.step(shown[:, 0], belief, carry=torch.zeros(4, 2))


def test_plain_grounders_have_no_carry() -> None:
    assert NeuralRewardMachine(MlpGrounder(3, 3), MACHINE).step(torch.zeros(2, 3)).carry.shape == (2, 0)


@pytest.mark.parametrize("shape", [(3,), (), (8, 8, 3)])
def test_the_fast_form_is_many_reads(shape: tuple[int, ...]) -> None:
    grounder = gru(shape=shape).eval()
    encoded = grounder.encode(torch.randn(20, *shape)).view(4, 5, -1)
    fast = grounder.sequence(encoded, torch.full((4,), 5))
    slow = RecurrentGrounder.sequence(grounder, encoded, torch.full((4,), 5))
    assert torch.allclose(fast, slow, atol=1e-6)
    assert torch.allclose(fast.sum(-1), torch.ones(4, 5))


def test_padding_and_equal_observations_change_nothing() -> None:
    model = NeuralRewardMachine(gru(), MACHINE).eval()
    episodes = delayed_episodes(6)
    once, each = episodes.batch(), episodes.batch(distinct=False)
    assert len(once.observations) == 3 < len(each.observations) == episodes.steps
    assert torch.allclose(model.ground_batch(once), model.ground_batch(each), atol=1e-6)
    assert torch.allclose(model.said_batch(once), model.ground_batch(each), atol=1e-6)
    alone = [model.ground_batch(episodes.batch().pick(torch.tensor([number]))) for number in range(6)]
    assert torch.allclose(model.ground_batch(once), torch.cat(alone), atol=1e-6)


def test_the_likelihood_is_that_of_the_plain_recursion() -> None:
    model = NeuralRewardMachine(gru().double(), MACHINE).eval().double()
    episodes = delayed_episodes(3)
    for number, episode in enumerate(episodes):
        batch = episodes.batch().pick(torch.tensor([number]))
        said = model.ground_batch(batch._replace(observations=batch.observations.double()))
        machine = model.machine
        slow = slow_log_likelihood(
            said,
            machine.transitions[machine.letter_class],
            machine.rewards,
            machine.start,
            episode.levels.tolist(),
        )
        fast, _ = model.batch_log_likelihood(batch, said)
        assert float(fast[0].detach()) == pytest.approx(float(slow.detach()))


def test_posteriors_go_by_steps() -> None:
    model = NeuralRewardMachine(Delayed(3, sure=0.7), MACHINE)
    batch = delayed_episodes(5).batch()
    found = expected_letters(model, batch, model.said_batch(batch))
    assert found.counts.shape == (batch.steps, 3)
    assert found.occurrences.tolist() == [1.0] * batch.steps
    assert torch.allclose(found.counts.sum(1), torch.ones(batch.steps), atol=1e-4)


def test_some_episodes_of_a_batch() -> None:
    episodes = delayed_episodes(6)
    picked = episodes.batch().pick(torch.tensor([4, 1]))
    wanted = EpisodeBuffer(episodes.levels, table=episodes.table, episodes=[episodes[4], episodes[1]]).batch()
    assert torch.equal(picked.observations[picked.seen][picked.mask], wanted.observations[wanted.seen][wanted.mask])
    assert torch.equal(picked.levels[picked.mask], wanted.levels[wanted.mask])
    assert picked.lengths.tolist() == wanted.lengths.tolist()


def test_windows_by_hand() -> None:
    assert windows(torch.tensor([[5, 6, 7]]), 3).tolist() == [[[-1, -1, 5], [-1, 5, 6], [5, 6, 7]]]
    assert windows(torch.tensor([[5, 6]]), 1).tolist() == [[[5], [6]]]


@pytest.mark.parametrize("seed", [0, 1])
def test_what_was_shown_a_step_ago_is_learned(seed: int) -> None:
    episodes, fresh = delayed_episodes(100, seed), delayed_episodes(30, 100 + seed)
    model = NeuralRewardMachine(gru(seed), MACHINE)
    record = fit(model, episodes, "grounding", FitConfig(seed=seed))
    assert record.explained
    said, true = np.concatenate(grounded_traces(model, fresh)), fresh.symbols()
    assert true is not None
    swapped = np.array([1, 0, 2])[true]  # a and b are mirror images of each other in this task
    assert max((said == true).mean(), (said == swapped).mean()) == 1.0
    plain = NeuralRewardMachine(MlpGrounder(3, 3), MACHINE)
    assert not fit(plain, episodes, "grounding", FitConfig(seed=seed)).explained


def test_what_no_window_explains_is_learned_as_far_as_one_does() -> None:
    """Symbols that only the reset showed stay unknown; the others are named by the shortest windows that tell them."""
    episodes = delayed_episodes(100, seed=2, first=True)
    model = NeuralRewardMachine(gru(), MACHINE)
    record = fit(model, episodes, "grounding", UpdateConfig(epochs=100))
    assert not record.explained
    said = np.concatenate([trace[1:] for trace in grounded_traces(model, episodes)])
    true = np.concatenate([episode.symbols[1:] for episode in episodes if episode.symbols is not None])
    assert max((said == true).mean(), (said == np.array([1, 0, 2])[true]).mean()) > 0.98


def test_equal_seeds_give_equal_grounders() -> None:
    weights = []
    for _ in range(2):
        model = NeuralRewardMachine(gru(), MACHINE)
        fit(model, delayed_episodes(30), "grounding", FitConfig(epochs=20, restarts=2))
        weights.append(model.state_dict())
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


@pytest.mark.parametrize("objective", ["em", "sequence"])
def test_observations_without_end_are_learned_by_episodes(objective: Any) -> None:
    """No two observations are equal here, so there are no windows to list; the loss must fall all the same."""
    episodes, noisy = delayed_episodes(60), EpisodeBuffer.for_machine(MACHINE)
    generator = np.random.default_rng(0)
    for episode in episodes:
        shown = episodes.observations(episode.seen)
        noisy.add(shown + generator.uniform(-0.1, 0.1, shown.shape).astype(np.float32), levels=episode.levels)
    model = NeuralRewardMachine(gru(), MACHINE)
    settings = FitConfig(objective=objective, epochs=60 if objective == "em" else 15, restarts=2)
    record = fit(model, noisy, "grounding", settings)
    assert len(record.attempts) == 2
    assert record.best.train < 0.5 * record.attempts[0].losses[0]


def test_two_tasks_with_one_recurrent_grounder() -> None:
    second = nrm.compile("F a", "a b c")
    episodes, other = delayed_episodes(60), EpisodeBuffer.for_machine(second)
    for episode in delayed_episodes(60, seed=5):
        assert episode.symbols is not None
        reached = np.maximum.accumulate(episode.symbols == 0)
        other.add(
            np.eye(3, dtype=np.float32)[np.append(episode.symbols[1:], 2)], rewards=np.diff(100.0 * reached, prepend=0)
        )
    tasks, together = of_several_tasks([MACHINE, second], [episodes, other])
    model = NeuralRewardMachine(gru(), tasks)
    assert fit(model, together, "grounding", FitConfig()).explained
    said = np.concatenate(grounded_traces(model.of_task(0), episodes))
    assert (said == episodes.symbols()).mean() == 1.0  # the second task tells a and b apart


def test_single_observations_are_refused_where_they_mean_nothing() -> None:
    model = NeuralRewardMachine(gru(), MACHINE)
    with pytest.raises(LearningError, match=r"GruGrounder.*carry=carry"):
        model.ground(torch.zeros(2, 3))
    with pytest.raises(LearningError, match="GruGrounder names symbols"):
        fit(model, delayed_episodes(5), labelled=(torch.zeros(1, 3), torch.zeros(1, dtype=torch.int64)))
    with pytest.raises(LearningError, match="names symbols by what an episode has shown"):
        discover(delayed_episodes(20), 20, grounder=lambda count: gru(symbols=count))
    with pytest.raises(ProbabilityError, match="holds nan"):
        model(torch.full((1, 2, 3), float("nan")))
    with pytest.raises(EpisodeError, match=r"\(3,\).*\(5,\)"):
        model(torch.zeros(1, 2, 5))


def test_a_grounder_that_gives_the_wrong_shape_is_named() -> None:
    class Short(Delayed):
        def sequence(self, encoded: Tensor, lengths: Tensor) -> Tensor:
            return super().sequence(encoded, lengths)[:, :-1]

    with pytest.raises(AlphabetError, match=r"into \(1, 3, 3\)"):
        NeuralRewardMachine(Short(3), MACHINE)(torch.zeros(1, 4, 1))
    with pytest.raises(AlphabetError, match=r"into \(4, 2\).*needs \(4, 3\)"):
        NeuralRewardMachine(gru(symbols=2), MACHINE)(torch.zeros(1, 4, 3))
    with pytest.raises(NotImplementedError, match="needs a method read"):
        RecurrentGrounder(False).read(torch.zeros(1), torch.zeros(1))


@pytest.mark.parametrize("make", [lambda: gru(), lambda: gru(shape=(8, 8, 3)), lambda: Delayed(3, sure=0.5)])
def test_files(make: Any, tmp_path: Path) -> None:
    grounder = make()
    model = NeuralRewardMachine(grounder, MACHINE)
    shown = torch.randint(0, 3, (2, 4, *(grounder.config.get("shape") or ()))).float()
    again = load_model(save_model(tmp_path / "model.pt", model), trust=True)
    assert type(again.grounder) is type(model.grounder)
    assert torch.equal(again(shown).states, model.eval()(shown).states)


def test_the_numbers_of_steps() -> None:
    batch = pack(torch.zeros(3, 4, 1), [2, 0, 3])
    assert batch.numbered.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [2, 3, 4, 0]]
