"""The module: hand-computed beliefs and likelihoods, a known machine as a special case, padding, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import nrm
from nrm.errors import AlphabetError, ContradictionError, EpisodeError, ProbabilityError
from nrm.machines import Alphabet, MooreMachine
from nrm.neural import MlpGrounder, NeuralRewardMachine, ProbabilisticMoore, TrueLabels
from nrm.neural.emission import letters_from_propositions
from tests.neural.examples import slow_beliefs, slow_log_likelihood, task


class Given(nn.Module):
    """Observations are the symbol probabilities themselves."""

    def forward(self, observations: Tensor) -> Tensor:
        return observations


def small() -> NeuralRewardMachine:
    """`F a` over {a, b}: state 0 (potential 0) until a is seen, then state 1 (potential 100)."""
    return NeuralRewardMachine(Given(), nrm.compile("F a", ["a", "b"]))


def test_beliefs_by_hand() -> None:
    beliefs = small()(torch.tensor([[[0.25, 0.75], [0.5, 0.5]]]))
    torch.testing.assert_close(beliefs.states, torch.tensor([[[0.75, 0.25], [0.375, 0.625]]]))
    torch.testing.assert_close(beliefs.rewards, torch.tensor([[[0.75, 0.25], [0.375, 0.625]]]))


def test_likelihood_and_filter_by_hand() -> None:
    model = small()
    symbols = torch.tensor([[[0.25, 0.75], [0.5, 0.5]]])
    # No reward at first: 0.75, and then the state is surely 0; the reward comes next: 0.5.
    logs = model.log_likelihood(symbols, torch.tensor([[0, 1]]))
    assert float(logs) == pytest.approx(math.log(0.75 * 0.5))
    found = model.filter(symbols, torch.tensor([[0, 1]]))
    torch.testing.assert_close(found.states, torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]))
    torch.testing.assert_close(found.likelihoods, torch.tensor([[0.75, 0.5]]))


def test_a_filter_that_two_states_share_a_level() -> None:
    # F a & F b: after one of the two, potential 50, but which of the states is open.
    model = NeuralRewardMachine(Given(), nrm.compile("F a & F b", ["a", "b", "c"]))
    symbols = torch.tensor([[[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]]])
    found = model.filter(symbols, torch.tensor([[1, 2]]))
    machine = nrm.compile("F a & F b", ["a", "b", "c"])
    seen_a, seen_b = machine.step(0, "a"), machine.step(0, "b")
    assert float(found.states[0, 0, seen_a]) == pytest.approx(0.4)
    assert float(found.states[0, 0, seen_b]) == pytest.approx(0.6)
    assert float(found.likelihoods[0, 1]) == pytest.approx(0.4 * 0.6 + 0.6 * 0.1)


@st.composite
def machines_and_letters(draw: st.DrawFn) -> tuple[MooreMachine, list[list[int]]]:
    states, symbols = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    table = draw(
        st.lists(
            st.lists(st.integers(0, states - 1), min_size=symbols, max_size=symbols), min_size=states, max_size=states
        )
    )
    outputs = draw(st.lists(st.sampled_from([-100.0, 0.0, 50.0]), min_size=states, max_size=states))
    machine = MooreMachine.from_table(
        Alphabet.exclusive(f"p{n}" for n in range(symbols)),
        table,
        np.zeros(states, dtype=bool),
        outputs,
        draw(st.integers(0, states - 1)),
    )
    episodes = draw(st.lists(st.lists(st.integers(0, symbols - 1), min_size=1, max_size=8), min_size=1, max_size=4))
    return machine, episodes


@given(machines_and_letters())
def test_true_labels_make_it_the_machine_itself(case: tuple[MooreMachine, list[list[int]]]) -> None:
    machine, episodes = case
    time = max(map(len, episodes))
    padded = torch.tensor([letters + [0] * (time - len(letters)) for letters in episodes])
    lengths = [len(letters) for letters in episodes]
    model = NeuralRewardMachine(TrueLabels(machine.alphabet.size), machine)
    beliefs = model(padded, lengths)
    states, potentials = beliefs.states.argmax(-1), beliefs.rewards.argmax(-1)
    levels = torch.zeros_like(padded)
    for row, letters in enumerate(episodes):
        run = machine.run(machine.alphabet.decode(letters))
        assert states[row, : len(letters)].tolist() == [*run.states[1:]]
        assert model.letters(beliefs.symbols)[row, : len(letters)].tolist() == letters
        assert not beliefs.states[row, len(letters) :].any()
        shown = machine.levels[potentials[row, : len(letters)].numpy()]
        assert shown.tolist() == [*run.outputs[1:]]
        levels[row, : len(letters)] = potentials[row, : len(letters)]
    assert model.log_likelihood(padded, levels, lengths).abs().max() < 1e-6
    assert set(beliefs.states.unique().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("number", [1, 4, 6])
def test_classes_change_nothing(number: int) -> None:
    machine = task(number)
    assert machine.classes < machine.alphabet.size
    model = NeuralRewardMachine(Given(), ProbabilisticMoore.from_machine(machine, dtype=torch.float64))
    symbols = torch.softmax(torch.randn(12, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64), -1)
    transitions = nn.functional.one_hot(torch.tensor(machine.transitions.T, dtype=torch.int64)).double()
    rewards = model.machine.rewards
    expected = slow_beliefs(symbols, transitions, model.machine.start)
    torch.testing.assert_close(model(symbols[None]).states[0], expected)
    levels = [int(level) for level in (expected @ rewards).argmax(-1)]
    slow = slow_log_likelihood(symbols, transitions, rewards, model.machine.start, levels)
    torch.testing.assert_close(model.log_likelihood(symbols[None], torch.tensor([levels]))[0], slow)


@pytest.mark.parametrize("rubbish", [0.0, math.nan, 1e30])
def test_padding_changes_nothing(rubbish: float) -> None:
    generator = torch.Generator().manual_seed(3)
    grounder = MlpGrounder(2, 5)
    model = NeuralRewardMachine(grounder, task(4))
    episodes = [torch.randn(length, 2, generator=generator) for length in (7, 3, 5)]
    padded = torch.full((3, 9, 2), rubbish)
    levels = torch.full((3, 9), 77)
    for row, episode in enumerate(episodes):
        padded[row, : len(episode)] = episode
        levels[row, : len(episode)] = 0
    lengths = [len(episode) for episode in episodes]
    together = model(padded, lengths)
    total = model.log_likelihood(padded, levels, lengths)
    found = model.filter(padded, levels, lengths)
    for row, episode in enumerate(episodes):
        alone = model(episode[None])
        for field, single in zip(together, alone, strict=True):
            torch.testing.assert_close(field[row, : len(episode)], single[0])
            assert bool((field[row, len(episode) :] == 0).all())
        zeros = torch.zeros(1, len(episode), dtype=torch.int64)
        torch.testing.assert_close(total[row], model.log_likelihood(episode[None], zeros)[0])
        torch.testing.assert_close(found.states[row, : len(episode)], model.filter(episode[None], zeros).states[0])
    (gradient,) = torch.autograd.grad(total.sum(), grounder.layers[0].weight)  # type: ignore[arg-type]
    assert bool(torch.isfinite(gradient).all())


def test_steps_one_by_one_are_the_whole() -> None:
    model = NeuralRewardMachine(MlpGrounder(2, 5), task(4))
    observations = torch.randn(3, 6, 2, generator=torch.Generator().manual_seed(0))
    whole = model(observations)
    belief = None
    for t in range(6):
        step = model.step(observations[:, t], belief)
        belief = step.belief
        torch.testing.assert_close(belief, whole.states[:, t])
        torch.testing.assert_close(step.rewards, whole.rewards[:, t])
        torch.testing.assert_close(step.symbols, whole.symbols[:, t])


def test_independent_propositions_by_hand() -> None:
    letters = letters_from_propositions(torch.tensor([0.1, 0.8]))
    torch.testing.assert_close(letters, torch.tensor([0.9 * 0.2, 0.1 * 0.2, 0.9 * 0.8, 0.1 * 0.8]))
    machine = nrm.compile("F (a & b)", propositions=["a", "b"])
    model = NeuralRewardMachine(Given(), machine, emission="independent")
    assert float(model(torch.tensor([[[0.1, 0.8]]])).rewards[0, 0, 1]) == pytest.approx(0.08)
    joint = NeuralRewardMachine(Given(), machine)
    assert float(joint(torch.tensor([[[0.4, 0.1, 0.2, 0.3]]])).rewards[0, 0, 1]) == pytest.approx(0.3)


def test_gradients_through_the_whole_model() -> None:
    machine = ProbabilisticMoore.from_machine(nrm.compile("F(a & F b)", ["a", "b"]), dtype=torch.float64)
    model = NeuralRewardMachine(Given(), machine)
    scores = torch.randn(2, 4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    levels = torch.tensor([[0, 1, 1, 2], [1, 1, 0, 0]])

    def likelihood(scores: Tensor) -> Tensor:
        return model.log_likelihood(torch.softmax(scores, -1), levels, [4, 2])

    assert torch.autograd.gradcheck(likelihood, (scores,))


def test_it_moves_to_other_number_types() -> None:
    model = NeuralRewardMachine(MlpGrounder(2, 5), task(4)).double()
    beliefs = model(torch.randn(1, 3, 2, dtype=torch.float64))
    assert beliefs.states.dtype == torch.float64
    assert model.float().machine.levels.tolist() == task(4).levels.tolist()
    assert model(torch.randn(1, 3, 2)).states.dtype == torch.float32


def test_bad_probabilities_are_refused() -> None:
    model = small()
    with pytest.raises(ProbabilityError, match=r"0\.5.*row 1"):
        model(torch.tensor([[[0.5, 0.5], [0.25, 0.25]]]))
    with pytest.raises(ProbabilityError, match="are these logits"):
        model(torch.tensor([[[3.0, -2.0]]]))
    with pytest.raises(ProbabilityError, match="observation 1 holds nan"):
        model(torch.tensor([[[0.5, 0.5], [math.nan, 0.5]]]))


def test_mismatched_alphabets_are_refused() -> None:
    with pytest.raises(AlphabetError, match=r"needs \(1, 5\)"):
        NeuralRewardMachine(MlpGrounder(2, 3), task(1))(torch.zeros(1, 1, 2))
    with pytest.raises(AlphabetError, match="propositional alphabet"):
        NeuralRewardMachine(Given(), task(1), emission="independent")
    with pytest.raises(AlphabetError, match="'categorical' or 'independent'"):
        NeuralRewardMachine(Given(), task(1), emission="joint")  # type: ignore[arg-type]


def test_levels_that_do_not_exist_and_lengths_that_do_not_fit() -> None:
    model = small()
    symbols = torch.full((1, 2, 2), 0.5)
    with pytest.raises(EpisodeError, match=r"episode 0, step 1.*index 5\b.*0, 100"):
        model.log_likelihood(symbols, torch.tensor([[0, 5]]))
    with pytest.raises(EpisodeError, match=r"lengths.*0 to 2"):
        model(symbols, [3])
    with pytest.raises(EpisodeError, match="potentials have shape"):
        model.log_likelihood(symbols, torch.tensor([[0]]))


def test_an_impossible_sequence_names_episode_and_step() -> None:
    model = NeuralRewardMachine(TrueLabels(2), nrm.compile("F a", ["a", "b"]))
    with pytest.raises(ContradictionError, match=r"episode 1, step 2.*potential 0\b") as caught:
        model.log_likelihood(torch.tensor([[1, 1, 1], [1, 0, 1]]), torch.tensor([[0, 0, 0], [0, 1, 0]]))
    assert (caught.value.episode, caught.value.step) == (1, 2)
