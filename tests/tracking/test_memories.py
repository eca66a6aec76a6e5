"""Memories: what they read, what they remember, and that they forget when an episode ends."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor

import nrm
from nrm.agents.rnn import RecurrentConfig, RecurrentMemory
from nrm.neural.grounders import MlpGrounder, TrueLabels
from nrm.neural.model import NeuralRewardMachine
from nrm.neural.moore import ProbabilisticMoore
from nrm.tracking import Belief, BeliefMemory, StateMemory, Transition
from nrm.tracking import beliefs as beliefs_module
from nrm.tracking.beliefs import BeliefStep, _moved_by_tensors, moved_by_letters

MACHINE = nrm.compile("F a & F b", "a b c")


def seen(observation: Tensor, reward: Tensor | None = None, state: Tensor | None = None) -> Transition:
    count = len(observation)
    nothing = torch.zeros(count)
    action = torch.zeros(count, dtype=torch.int64)
    return Transition(observation, torch.ones(count, 2), action, nothing if reward is None else reward, state)


class Fixed(TrueLabels):
    """A grounder that is sure of nothing: 0.6 for the observed letter, 0.2 for each of the others."""

    def forward(self, observations: Tensor) -> Tensor:
        return 0.2 + 0.4 * super().forward(observations)


def belief_memory(conditioned: bool, crisp: bool = False, frames: bool = True) -> BeliefMemory:
    grounder = TrueLabels(3) if crisp else Fixed(3)
    model = NeuralRewardMachine(grounder, ProbabilisticMoore.from_machine(MACHINE)).eval()
    return BeliefMemory(model, torch.arange(3)[:, None] if frames else None, "filtered" if conditioned else "open-loop")


def test_rm_remembers_the_true_state() -> None:
    memory = StateMemory.of(MACHINE)
    start = memory.start(2)
    assert memory.feature(start).tolist() == [[1, 0, 0, 0], [1, 0, 0, 0]]
    carry = memory.read(start, seen(torch.zeros(2), state=torch.tensor([3, 1])))
    assert memory.feature(carry).tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]]


def test_the_open_belief_by_hand() -> None:
    # Reading `a` with probabilities 0.6, 0.2, 0.2: from the start 0.6 to state 1, 0.2 to state 2, 0.2 stay.
    memory = belief_memory(conditioned=False)
    carry = memory.read(memory.start(1), seen(torch.tensor([0]), reward=torch.tensor([50.0])))
    assert memory.feature(carry)[0].tolist() == pytest.approx([0.2, 0.6, 0.2, 0.0])
    assert carry[0, -1].item() == 50


def test_the_conditioned_belief_by_hand() -> None:
    # The potential is now 50, which states 1 and 2 have: 0.6 and 0.2 become 0.75 and 0.25.
    memory = belief_memory(conditioned=True)
    carry = memory.read(memory.start(1), seen(torch.tensor([0]), reward=torch.tensor([50.0])))
    assert memory.feature(carry)[0].tolist() == pytest.approx([0.0, 0.75, 0.25, 0.0])


def test_a_level_that_the_grounder_calls_impossible_leaves_all_its_states_open() -> None:
    memory = belief_memory(conditioned=True, crisp=True)
    carry = memory.read(memory.start(1), seen(torch.tensor([2]), reward=torch.tensor([50.0])))
    assert memory.feature(carry)[0].tolist() == pytest.approx([0.0, 0.5, 0.5, 0.0])


def test_a_true_grounder_makes_the_belief_the_machine() -> None:
    memory = belief_memory(conditioned=False, crisp=True)
    carry = memory.start(1)
    for letter in (2, 1, 1, 0):
        carry = memory.read(carry, seen(torch.tensor([letter])))
    assert memory.feature(carry)[0].argmax().item() == MACHINE.run(["c", "b", "b", "a"]).states[-1]


def test_frames_change_nothing_but_the_work() -> None:
    by_frames, by_observations = belief_memory(True), belief_memory(True, frames=False)
    rows = torch.tensor([0, 1, 2])
    paid = torch.tensor([50.0, 50.0, 0.0])
    first = by_frames.read(by_frames.start(3), seen(rows, paid))
    second = by_observations.read(by_observations.start(3), seen(rows[:, None], paid))
    assert torch.allclose(first, second)


@pytest.mark.parametrize("belief", ["filtered", "open-loop"])
def test_listed_observations_need_no_matrices_where_these_would_be_large(
    belief: Belief, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = NeuralRewardMachine(Fixed(3), _line(nrm.compile("F a", "a b c"), 20)).eval()
    frames, rows = torch.arange(3)[:, None], torch.tensor([0, 1, 2])
    listed = BeliefMemory(model, frames, belief)
    monkeypatch.setattr(beliefs_module, "MAX_LISTED", 1)
    plain = BeliefMemory(model, frames, belief)
    one = other = listed.start(3)
    for _ in range(5):
        one, other = (memory.read(carry, seen(rows)) for memory, carry in ((listed, one), (plain, other)))
        torch.testing.assert_close(one, other)


def test_an_ended_episode_is_forgotten_and_others_are_not() -> None:
    recurrent = RecurrentMemory(2, RecurrentConfig(size=5))
    for memory in (belief_memory(True), recurrent):
        carry = memory.read(memory.start(2), seen(torch.tensor([0, 0]), torch.tensor([50.0, 50.0])))
        after = memory.reset(carry, torch.tensor([True, False]), torch.zeros(2).long())
        assert torch.equal(after[0], memory.start(1)[0])
        assert torch.equal(after[1], carry[1])
        assert not torch.equal(carry[0], memory.start(1)[0])


@pytest.mark.parametrize("belief", ["filtered", "open-loop"])
@pytest.mark.parametrize("formula", ["F a & F b", "F(a & F b) & G !c", "G(a -> X b)"])
def test_a_step_in_numpy_is_the_step_in_torch(formula: str, belief: Belief) -> None:
    machine = nrm.compile(formula, propositions=["a", "b", "c"])
    model = NeuralRewardMachine(MlpGrounder(2, 8), machine).eval()
    fast, slow = BeliefMemory(model, None, belief), BeliefMemory(model, None, belief)
    slow._step = BeliefStep(model, belief, partial(_moved_by_tensors, model.machine))
    one, other = fast.start(6), slow.start(6)
    draw = torch.Generator().manual_seed(0)
    levels = torch.tensor(machine.levels, dtype=torch.float32)
    for _ in range(20):
        observation = torch.randn(6, 2, generator=draw)
        # Any potentials in any order, impossible ones too: the grounder may be wrong.
        reward = levels[torch.randint(len(levels), (6,), generator=draw)] - one[:, -1]
        one, other = (
            memory.read(carry, seen(observation, reward=reward)) for memory, carry in ((fast, one), (slow, other))
        )
        assert torch.allclose(one, other, atol=1e-5)
        if belief == "filtered":
            assert torch.allclose(one[:, :-1].sum(1), torch.ones(6))


def test_large_machines_take_the_general_step() -> None:
    many = nrm.compile("F a", [f"s{number}" for number in range(400)] + ["a"])
    assert not _moves_by_tensors(NeuralRewardMachine(TrueLabels(401), many))
    assert _moves_by_tensors(NeuralRewardMachine(TrueLabels(401), _line(many, 60)))


def _moves_by_tensors(model: NeuralRewardMachine) -> bool:
    moved = moved_by_letters(model)
    return isinstance(moved, partial) and moved.func is _moved_by_tensors


def _line(machine: nrm.MooreMachine, states: int) -> nrm.MooreMachine:
    """A machine over the same letters that counts to `states`."""
    formula = "F a"
    for _ in range(states - 2):
        formula = f"F(a & X {formula})"
    return nrm.compile(formula, machine.alphabet)


@pytest.mark.parametrize("frames", [True, False])
def test_a_crisp_belief_takes_the_most_probable_letter_for_certain(frames: bool) -> None:
    model = NeuralRewardMachine(Fixed(3), ProbabilisticMoore.from_machine(MACHINE)).eval()
    memory = BeliefMemory(model, torch.arange(3)[:, None] if frames else None, "argmax")
    for letter, expected in ((0, [0, 1, 0, 0]), (1, [0, 0, 1, 0]), (2, [1, 0, 0, 0])):
        shown = torch.tensor([letter]) if frames else torch.tensor([[letter]])
        carry = memory.read(memory.start(1), seen(shown, reward=torch.tensor([100.0])))
        assert memory.feature(carry)[0].tolist() == expected
