"""Neural reward machines over many propositions: equal to the form of all letters, saved, followed, in pools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import nrm
from nrm.errors import LimitError
from nrm.machines import Alphabet, MooreMachine, TaskSet
from nrm.neural import EpisodeBuffer, FitConfig, MlpGrounder, NeuralRewardMachine, ProbabilisticMoore
from nrm.neural.descent import sequence
from nrm.neural.em.steps import expected_letters
from nrm.shortcuts import shortcuts
from nrm.tracking import BeliefMemory, TaskBeliefMemory, Transition
from nrm.tracking.accuracy import AccuracyMeter


def named(count: int) -> list[str]:
    return ["key", "door", *(f"h{number}" for number in range(count - 2))]


def machine_of(count: int) -> MooreMachine:
    names = named(count)
    return nrm.compile(
        " & ".join(["F(key & X F door)", *(f"G !{name}" for name in names[2:])]), Alphabet.propositional(names)
    )


def of_all_letters(machine: MooreMachine) -> NeuralRewardMachine:
    """The same model by the probabilities of all 2^n letters."""
    module = ProbabilisticMoore.from_machine(machine, joint=True)
    module.counting = None
    return NeuralRewardMachine(nn.Sigmoid(), module, "independent")


def episodes(machine: MooreMachine, count: int, steps: int, seed: int = 0) -> tuple[EpisodeBuffer, Tensor]:
    """Random episodes whose observations are logits that lean to the truth."""
    rng = np.random.default_rng(seed)
    names = machine.alphabet.symbols
    buffer = EpisodeBuffer.for_machine(machine)
    truth = rng.random((count, steps, len(names))) < np.array([0.4, 0.4, *[0.1 / len(names)] * (len(names) - 2)])
    for episode in truth:
        run = machine.run([[name for name, true in zip(names, row, strict=True) if true] for row in episode])
        logits = 3 * (2.0 * episode - 1) + rng.standard_normal(episode.shape)
        buffer.add(logits.astype(np.float32), rewards=run.rewards)
    return buffer, torch.tensor(truth)


@pytest.mark.parametrize("count", [7, 10])
def test_counting_equals_all_letters_in_loss_gradient_posteriors_and_beliefs(count: int) -> None:
    machine = machine_of(count)
    model, twin = NeuralRewardMachine(nn.Sigmoid(), machine, "independent"), of_all_letters(machine)
    assert model.distribution.counted
    assert not twin.distribution.counted
    batch = episodes(machine, 4, 6)[0].batch()
    losses, gradients, posteriors = [], [], []
    for net in (model, twin):
        logits = batch.observations.clone().requires_grad_()
        loss = sequence(net, batch, net.ground(logits))
        losses.append(loss)
        gradients.append(torch.autograd.grad(loss, logits)[0])
        posteriors.append(expected_letters(net, batch, torch.sigmoid(logits)).counts)
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-7)
    torch.testing.assert_close(posteriors[0], posteriors[1], rtol=1e-4, atol=1e-6)
    said = torch.sigmoid(batch.observations)
    assert torch.equal(model.letters(said), twin.letters(said))
    assert torch.equal(twin.letters(said), twin.letter_probs(said).argmax(-1))
    letters = model.letters(said)
    torch.testing.assert_close(model.distribution.share(said, letters), twin.distribution.share(said, letters))


@pytest.mark.parametrize("count", [7, 24, 40])
def test_what_is_saved_reads_back(count: int, tmp_path: Path) -> None:
    machine = machine_of(count)
    model = NeuralRewardMachine(MlpGrounder(5, count, independent=True), machine, "independent")
    again = nrm.load_model(nrm.save_model(tmp_path / "model.pt", model))
    seen = torch.randn(2, 4, 5)
    for one, two in zip(model(seen), again(seen), strict=True):
        torch.testing.assert_close(one, two)
    assert nrm.equivalent(again.machine.known().machines[0], nrm.machines.minimise(machine, by="outputs"))


@pytest.mark.parametrize("belief", ["filtered", "open-loop", "argmax"])
def test_beliefs_are_followed_by_classes(belief: str) -> None:
    machine = machine_of(24)
    model = NeuralRewardMachine(nn.Sigmoid(), machine, "independent")
    buffer, truth = episodes(machine, 3, 6)
    batch = buffer.batch()
    memory = BeliefMemory(model, None, belief)  # type: ignore[arg-type]
    carry = memory.start(3)
    names = machine.alphabet.symbols
    states = [machine.initial] * 3
    for step in range(6):
        rows = batch.seen[:, step]
        before = [machine.outputs[state] for state in states]
        for episode in range(3):
            holding = [name for name, true in zip(names, truth[episode, step].tolist(), strict=True) if true]
            states[episode] = machine.step(states[episode], holding)
        paid = torch.tensor([machine.outputs[state] - old for state, old in zip(states, before, strict=True)])
        carry = memory.read(carry, Transition(5 * batch.observations[rows], None, torch.zeros(3), paid.float(), None))
    assert carry[:, : machine.states].argmax(1).tolist() == states


def test_many_tasks_over_many_propositions_each_count_their_own_classes() -> None:
    alphabet = Alphabet.propositional(named(24))
    machines = [nrm.compile(text, alphabet) for text in ("F key & G !h0", "F(door & X F key)", "F h5 & G !h6 & G !h7")]
    pool = TaskSet.of(machines)
    model = NeuralRewardMachine(nn.Sigmoid(), pool, "independent")
    rng = np.random.default_rng(0)
    buffer = EpisodeBuffer.for_tasks(pool)
    names = alphabet.symbols
    alone = []
    for number, machine in enumerate(machines):
        truth = rng.random((5, 24)) < 0.2
        run = machine.run([[name for name, true in zip(names, row, strict=True) if true] for row in truth])
        logits = (3 * (2.0 * truth - 1)).astype(np.float32)
        buffer.add(logits, rewards=run.rewards, task=number)
        single = EpisodeBuffer.for_machine(machine)
        single.add(logits, rewards=run.rewards)
        alone.append((NeuralRewardMachine(nn.Sigmoid(), machine, "independent"), single.batch()))
    batch = buffer.batch()
    total, _ = model.batch_log_likelihood(batch, model.ground(batch.observations))
    expected = [net.batch_log_likelihood(own, net.ground(own.observations))[0] for net, own in alone]
    torch.testing.assert_close(total, torch.cat(expected), rtol=1e-4, atol=1e-5)
    memory = TaskBeliefMemory(model, None, "open-loop")
    carry = memory.begin(torch.tensor([2, 0, 2]))
    shown = torch.randn(3, 24)
    after = memory.read(carry, Transition(shown, None, torch.zeros(3), torch.zeros(3), None))
    for row, task in enumerate((2, 0, 2)):
        net = alone[task][0]
        step = net.step(shown[row : row + 1])
        torch.testing.assert_close(memory.states(after)[row, : machines[task].states], step.belief[0])


def test_letters_past_sixty_two_propositions_have_no_number() -> None:
    model = NeuralRewardMachine(nn.Sigmoid(), machine_of(70), "independent")
    with pytest.raises(LimitError, match=r"70 propositions.*64"):
        model.letters(torch.rand(1, 70))


def test_rewards_teach_what_they_can_of_thirteen_propositions() -> None:
    machine = machine_of(13)
    buffer, truth = episodes(machine, 120, 10)
    torch.manual_seed(0)
    model = NeuralRewardMachine(MlpGrounder(13, 13, hidden=(32,), independent=True), machine, "independent")
    nrm.fit(model, buffer, config=FitConfig(epochs=200, restarts=2, seed=0))
    batch = buffer.batch()
    with torch.no_grad():
        letters = model.letters(model.ground(batch.observations))[batch.seen].flatten().tolist()
    true = [sum(1 << place for place, bit in enumerate(row) if bit) for row in truth.flatten(0, 1).tolist()]
    right = [machine.class_of(one) == machine.class_of(two) for one, two in zip(true, letters, strict=True)]
    assert np.mean(right) > 0.8  # what says nothing is right in a third of the steps


def test_accuracy_of_many_propositions_is_of_classes() -> None:
    machine = machine_of(24)
    meter = AccuracyMeter(machine)
    true = np.array([0, 1, 2, 3, 1 << 5, 1 << 9])
    read = np.array([0, 1, 2, 3, 1 << 6, 1 << 9 | 1])  # another hazard, and one with a key: as bad as the true ones
    found = meter.compare(true, read)
    assert found.plain == pytest.approx(4 / 6)
    assert found.modulo_shortcuts == 1.0
    assert meter.compare(true, np.zeros(6, dtype=np.int64)).modulo_shortcuts == pytest.approx(1 / 6)
    small = machine_of(5)
    plain = AccuracyMeter(small)
    letters = np.array([0, 1, 2, 3, 4, 8, 16])
    taken = np.array([0, 1, 3, 3, 8, 8, 2])
    confusion = np.zeros((small.alphabet.size,) * 2)
    np.add.at(confusion, (letters, taken), 1.0)
    twin, found = nrm.diagnose(shortcuts(small), confusion), plain.compare(letters, taken)
    assert found[:3] == (twin.accuracy, twin.balanced_accuracy, twin.accuracy_modulo_shortcuts)
