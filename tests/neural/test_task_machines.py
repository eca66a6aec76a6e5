"""A model of many tasks is its models of one task each, episode by episode."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nrm.errors import ContradictionError, EpisodeError
from nrm.machines import Alphabet, LevelCodec, TaskSet
from nrm.neural import EpisodeBuffer, FitConfig, NeuralRewardMachine, TaskMachines, fit
from nrm.neural.em.steps import expected_letters
from nrm.neural.grounders import MlpGrounder
from nrm.samplers import sample_tasks

LETTERS = Alphabet.exclusive([*"abcd", "empty"])


def pool(count: int = 6) -> TaskSet:
    return sample_tasks("mixture", LETTERS, count, 0)


def recorded(tasks: TaskSet, episodes: int, seed: int, steps: int = 12) -> tuple[EpisodeBuffer, list[np.ndarray]]:
    """Random letters as one-hot observations with a little noise, each episode with a task of its own."""
    generator = np.random.default_rng(seed)
    buffer = EpisodeBuffer.for_tasks(tasks)
    traces = []
    for _ in range(episodes):
        task = int(generator.integers(len(tasks)))
        machine = tasks.machines[task]
        letters = generator.integers(0, 5, int(generator.integers(1, steps)))
        state, rewards = machine.initial, []
        for letter in letters:
            after = machine.next_state(state, int(letter))
            rewards.append(machine.outputs[after] - machine.outputs[state])
            state = after
        shown = np.eye(5)[letters] + generator.normal(0, 0.05, (len(letters), 5))
        buffer.add(shown.astype(np.float32), rewards=rewards, symbols=letters, task=task)
        traces.append(letters)
    return buffer, traces


def test_likelihoods_and_posteriors_are_those_of_single_models() -> None:
    tasks = pool()
    model = NeuralRewardMachine(MlpGrounder(5, 5), tasks)
    buffer, _ = recorded(tasks, 20, 1)
    batch = buffer.batch()
    symbols = torch.softmax(torch.randn(len(batch.observations), 5, generator=torch.Generator().manual_seed(0)), -1)
    total, _ = model.batch_log_likelihood(batch, symbols)
    counts = expected_letters(model, batch, symbols).counts
    for number, episode in enumerate(buffer):
        assert episode.task is not None
        alone = batch.pick(torch.tensor([number]))._replace(tasks=torch.tensor([-1]))
        rows = [int(row) for row in batch.seen[number, : len(episode)]]
        one = model.of_task(episode.task)
        levels = LevelCodec(one.machine.levels).nearest(torch.tensor(tasks.levels[episode.levels]))[None]
        alone = alone._replace(levels=levels, seen=torch.arange(len(rows))[None], observations=batch.observations[rows])
        expected, _ = one.batch_log_likelihood(alone, symbols[rows])
        assert float(total[number]) == pytest.approx(float(expected[0]), rel=1e-4, abs=1e-4)
        found = expected_letters(one, alone, symbols[rows]).counts
        torch.testing.assert_close(counts[rows], found, rtol=1e-3, atol=1e-4)


def test_restarts_of_a_task_set_draw_the_grounder_alone() -> None:
    buffer, _ = recorded(pool(), 20, 1)
    model = NeuralRewardMachine(MlpGrounder(5, 5), pool())
    record = fit(model, buffer, config=FitConfig(epochs=20, restarts=2, target=1e-12))
    assert len(record.attempts) == 2


def test_a_step_is_the_matrix_of_a_step() -> None:
    tasks = pool()
    machine = NeuralRewardMachine(MlpGrounder(5, 5), tasks).machine
    assert isinstance(machine, TaskMachines)
    numbers = torch.tensor([0, 3, 5])
    letters = torch.softmax(torch.randn(3, 5, generator=torch.Generator().manual_seed(0)), -1)
    after = machine.step_of(numbers, machine.start_of(numbers, machine.states), letters)
    for row, number in enumerate(numbers.tolist()):
        single = tasks.machines[number]
        expected = np.zeros(machine.states)
        for letter, share in enumerate(letters[row].tolist()):
            expected[single.next_state(single.initial, letter)] += share
        np.testing.assert_allclose(after[row].numpy(), expected, atol=1e-6)


def test_steps_and_expectations_of_spread_beliefs_are_sums_over_all_states() -> None:
    tasks = pool()
    machine = NeuralRewardMachine(MlpGrounder(5, 5), tasks).machine
    assert isinstance(machine, TaskMachines)
    generator = torch.Generator().manual_seed(1)
    numbers = torch.tensor([5, 0, 2, 2])
    letters = torch.softmax(torch.randn(4, 5, generator=generator), -1)
    table = torch.randn(len(tasks.task_of_state), 3, generator=generator)
    belief = torch.zeros(4, machine.states)
    for row, number in enumerate(numbers.tolist()):
        states = tasks.machines[number].states
        belief[row, :states] = torch.softmax(torch.randn(states, generator=generator), 0)
    belief[3] = 0
    belief[3, 1] = 1.0
    after, seen = machine.step_of(numbers, belief, letters), machine.expected(belief, numbers, table)
    for row, number in enumerate(numbers.tolist()):
        single, reached, mean = tasks.machines[number], np.zeros(machine.states), np.zeros(3)
        for state in range(single.states):
            mean += float(belief[row, state]) * table[int(tasks.first[number]) + state].numpy()
            for letter in range(5):
                reached[single.next_state(state, letter)] += float(belief[row, state] * letters[row, letter])
        np.testing.assert_allclose(after[row].numpy(), reached, atol=1e-6)
        np.testing.assert_allclose(seen[row].numpy(), mean, atol=1e-6)


def test_one_grounder_learns_its_symbols_plainly_from_many_tasks() -> None:
    tasks = pool(30)
    torch.manual_seed(0)
    model = NeuralRewardMachine(MlpGrounder(5, 5), tasks)
    buffer, _ = recorded(tasks, 200, 2)
    fit(model, buffer, "grounding", FitConfig(epochs=400, restarts=2))
    with torch.no_grad():
        named = model.ground(torch.eye(5)).argmax(-1)
    assert named.tolist() == [0, 1, 2, 3, 4]


def test_equal_levels_but_for_rounding_are_one() -> None:
    tasks = TaskSet.of(["F(a & F(b & F c))", "F(a & X F(b & X F(c & X F(d & X F(a & X F b)))))"], LETTERS)
    assert len(tasks.levels) == 7  # sixths; thirds are among them


def test_bad_episodes_are_named() -> None:
    tasks = pool()
    model = NeuralRewardMachine(MlpGrounder(5, 5), tasks)
    buffer = EpisodeBuffer.for_tasks(tasks)
    buffer.add(np.zeros((1, 5), dtype=np.float32), rewards=[0.0])
    with pytest.raises(EpisodeError, match="which they are of"):
        fit(model, buffer)
    buffer = EpisodeBuffer.for_tasks(tasks)
    buffer.add(np.zeros((1, 5), dtype=np.float32), rewards=[0.0], task=9)
    with pytest.raises(EpisodeError, match="task 9"):
        fit(model, buffer)
    buffer = EpisodeBuffer.for_tasks(tasks)
    long = max(
        range(6), key=lambda task: int(tasks.machines[task].distance_to_acceptance[tasks.machines[task].initial])
    )
    buffer.add(np.zeros((1, 5), dtype=np.float32), rewards=[100.0], task=long)
    with pytest.raises(ContradictionError, match="episode 0, step 0"):
        fit(model, buffer)
    buffer.add(np.zeros((1, 5), dtype=np.float32), rewards=[0.0])
    with pytest.raises(EpisodeError, match="1 of 2 episodes say"):
        buffer.batch()
    with pytest.raises(EpisodeError, match=r"model.of_task\(number\)"):
        model(torch.zeros(1, 3, 5))
