"""Expectation-maximisation as a whole: likelihood never falls, restarts do not mix, labels and tasks add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nrm
from nrm.machines import MooreMachine
from nrm.neural import EpisodeBuffer, FitConfig, MlpGrounder, NeuralRewardMachine, fit
from nrm.neural.config import Maximisation
from nrm.neural.descent import Labelled, LearningProblem
from nrm.neural.em import table
from nrm.neural.em.steps import expected_letters, posterior
from nrm.neural.em.table import _drafted, _repeated, table_suits
from nrm.neural.episodes import EpisodeBatch
from nrm.neural.learning import _problem
from tests.neural.examples import of_several_tasks

MACHINE = nrm.compile("F(a & F b)", "a b c")
PLACES = 6
TRUE = np.array([2, 0, 2, 1, 2, 2])
"""What is read at each of six places."""


def walk(generator: np.random.Generator, steps: int) -> np.ndarray:
    """A random walk from a random place: whatever lies on the way to something can be met without it."""
    jumps = generator.integers(-1, 2, steps)
    jumps[0] = generator.integers(PLACES)
    return np.clip(np.cumsum(jumps), 0, PLACES - 1)


def walks(machine: MooreMachine, count: int = 40, steps: int = 25, seed: int = 0) -> EpisodeBuffer:
    """Random walks on a row of places."""
    generator = np.random.default_rng(seed)
    buffer = EpisodeBuffer.for_machine(machine)
    for _ in range(count):
        places = walk(generator, steps)
        run = machine.run([machine.alphabet.symbols[TRUE[place]] for place in places])
        buffer.add(places[:, None].astype(np.float32), rewards=run.rewards, symbols=TRUE[places])
    return buffer


def model(machine: MooreMachine = MACHINE, seed: int = 0) -> NeuralRewardMachine:
    torch.manual_seed(seed)
    return NeuralRewardMachine(MlpGrounder(1, machine.alphabet.size), machine)


def problem(machine: MooreMachine = MACHINE) -> LearningProblem:
    return _problem(model(machine), walks(machine), FitConfig())


def grounded(fitted: NeuralRewardMachine) -> list[int]:
    letters: list[int] = fitted.ground(torch.arange(PLACES).float()[:, None]).argmax(-1).tolist()
    return letters


def test_an_iteration_on_all_episodes_never_lowers_the_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SMOOTHING", 0.0)
    one = problem()
    tables = table.Tables(one.model, one.everything)
    generator = torch.Generator().manual_seed(0)
    now = tables.begun(5, None, generator)
    likelihoods = []
    for _ in range(12):
        now, likelihood = tables.improved(now, 1.0, generator)
        likelihoods.append(likelihood)
    steps = torch.stack(likelihoods)
    assert (steps[1:] >= steps[:-1] - 1e-6).all()
    assert (steps[-1] > steps[0]).all()


def test_tables_side_by_side_are_the_general_step_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SMOOTHING", 0.0)
    one = problem()
    tables = table.Tables(one.model, one.everything)
    generator = torch.Generator().manual_seed(1)
    now = tables.begun(3, None, generator)
    after, likelihood = tables.improved(now, 1.0, generator)
    for restart in range(3):
        found = expected_letters(one.model, one.everything, now[restart])
        torch.testing.assert_close(after[restart], posterior(one.model, found, now[restart]))
        torch.testing.assert_close(likelihood[restart], found.log_likelihood.sum() / one.everything.steps)


@pytest.mark.parametrize("objective", ["em", "sequence"])
def test_places_are_grounded_and_equal_seeds_give_equal_parameters(objective: str) -> None:
    config = FitConfig(objective=objective, seed=3)  # type: ignore[arg-type]
    fitted = [model(seed=1) for _ in range(2)]
    records = [fit(each, walks(MACHINE), "grounding", config) for each in fitted]
    assert records[0].explained
    assert grounded(fitted[0])[1] == 0
    assert grounded(fitted[0])[3] == 1
    for one, other in zip(fitted[0].parameters(), fitted[1].parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_task_is_as_good_as_its_machine() -> None:
    task = nrm.Task(nrm.parse("F(a & F b)"), MACHINE.alphabet)
    assert (EpisodeBuffer.for_machine(task).levels == MACHINE.levels).all()
    each = NeuralRewardMachine(MlpGrounder(1, 3), task)
    assert fit(each, walks(MACHINE)).explained


def test_labels_choose_among_what_rewards_cannot_tell_apart() -> None:
    # Rewards cannot tell a from b in F a & F b: a label for one place does.
    machine = nrm.compile("F a & F b", "a b c")
    for letter in (0, 1):
        place = 1 if letter == 0 else 3
        for wrong in (False, True):
            labels = (torch.tensor([[float(place)]]), torch.tensor([1 - letter if wrong else letter]))
            each = model(machine)
            assert fit(each, walks(machine), labelled=labels).explained
            assert grounded(each)[place] == (1 - letter if wrong else letter)


def test_several_tasks_with_one_grounder_leave_only_what_is_true() -> None:
    machines = [nrm.compile("F a & F b", "a b c"), nrm.compile("F a & G !b", "a b c")]
    tasks, buffer = of_several_tasks(machines, [walks(machine) for machine in machines])
    several = NeuralRewardMachine(model(machines[0]).grounder, tasks)
    assert fit(several, buffer).explained
    assert grounded(several) == TRUE.tolist()


@pytest.mark.parametrize("maximisation", ["posterior", "evidence"])
def test_endless_observations_are_learned_by_what_they_look_like(maximisation: Maximisation) -> None:
    # Every observation is another one: a place with noise. Rewards of episodes never seen are then no surprise.
    generator = np.random.default_rng(0)
    known, fresh = EpisodeBuffer.for_machine(MACHINE), EpisodeBuffer.for_machine(MACHINE)
    for number in range(80):
        places = walk(generator, 25)
        seen = (places + generator.uniform(-0.3, 0.3, 25))[:, None].astype(np.float32)
        run = MACHINE.run([MACHINE.alphabet.symbols[TRUE[place]] for place in places])
        (known if number < 60 else fresh).add(seen, rewards=run.rewards)
    each = model()
    assert not table_suits(known.batch())
    assert fit(each, known, config=FitConfig(maximisation=maximisation, epochs=1200, restarts=6)).explained
    batch = fresh.batch()
    with torch.no_grad():
        total, _ = each.batch_log_likelihood(batch, each.said(batch.observations))
    assert -float(total.sum()) / batch.steps < 0.02


def test_labelled_rows_count_as_much_as_all_steps() -> None:
    labelled = Labelled(torch.tensor([[9.0]]), torch.tensor([1]))
    one = problem()
    tables = table.Tables(one.model, one.everything, labelled)
    assert tables.labels is not None
    _, counts, weights = tables.labels
    assert counts.tolist() == [[0.0, weights.item(), 0.0]]
    assert weights.item() == pytest.approx(one.everything.steps)


def test_restarts_and_drafts_keep_the_task_of_each_episode() -> None:
    lengths = torch.tensor([2, 1] * 40)
    seen = torch.arange(160).view(80, 2)
    batch = EpisodeBatch(torch.zeros(160, 1), seen, torch.zeros_like(seen), lengths, torch.arange(80))
    twice = _repeated(batch, 2, 160)
    assert twice.tasks.tolist() == [*range(80), *range(80)]
    assert torch.equal(twice.seen[80:], seen + 160)
    some = _drafted(batch, 0.5, torch.Generator().manual_seed(0))
    assert len(some.tasks) < 80
    assert torch.equal(some.seen[:, 0], 2 * some.tasks)
    assert torch.equal(some.lengths, lengths[some.tasks])


def test_where_no_round_explains_everything_the_grounder_learns_the_best_table_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = table.Tables.best
    rounds = iter([True, False])

    def one_good_round(*given: Any) -> tuple[torch.Tensor, tuple[float, ...]]:
        best, losses = found(*given)
        return (best, losses) if next(rounds) else (torch.full_like(best, 1 / 3), (1.0,))

    monkeypatch.setattr(table.Tables, "best", one_good_round)
    each, buffer = model(), walks(MACHINE)
    record = fit(each, buffer, "grounding", FitConfig(restarts=12, target=1e-12, held_out=0.0))
    assert [attempt.restarts for attempt in record.attempts] == [4, 8]
    batch = buffer.batch()
    total, _ = each.batch_log_likelihood(batch, each.said_batch(batch))
    assert record.best.held_out == pytest.approx(-float(total.detach().sum()) / batch.steps)
    assert record.best.held_out < 0.05
