"""Learning succeeds where it should, repeats with its seed, and refuses what it cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from benchmarks import envs
from torch import nn

import nrm
from nrm.errors import AlphabetError, ContradictionError, EpisodeError, LearningError, ProbabilityError
from nrm.machines import MooreMachine
from nrm.neural import (
    EpisodeBuffer,
    FitConfig,
    MlpGrounder,
    NeuralRewardMachine,
    TrueLabels,
    fit,
    record_episodes,
)
from nrm.neural.episode_file import as_buffer
from tests.neural.examples import of_several_tasks, task

CELLS = torch.from_numpy(envs.as_map(np.array(envs.all_cells())))
TRUE = envs.true_symbols()


def map_env(number: int, episodes: int = 60, seed: int = 0) -> tuple[MooreMachine, EpisodeBuffer]:
    machine = nrm.compile(nrm.logic.paper_task(number).formula(envs.SYMBOLS), envs.SYMBOLS)
    buffer = EpisodeBuffer.for_machine(machine)
    for episode in envs.record_many(machine, episodes, seed):
        buffer.add(envs.as_map(episode.cells), rewards=episode.rewards, symbols=episode.symbols)
    return machine, buffer


def fresh(machine: MooreMachine, seed: int = 0) -> NeuralRewardMachine:
    torch.manual_seed(seed)
    return NeuralRewardMachine(MlpGrounder(2, 5), machine)


def letters(model: NeuralRewardMachine) -> list[int]:
    with torch.no_grad():
        return [int(letter) for letter in model.ground(CELLS).argmax(-1)]


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_grounder_is_learned_from_rewards_alone(number: int) -> None:
    machine, buffer = map_env(number)
    model = fresh(machine)
    record = fit(model, buffer, "grounding", FitConfig(epochs=200))
    assert record.explained
    assert envs.accuracy_modulo_shortcuts(machine, letters(model), TRUE) == 1
    assert record.best.losses[-1] < 0.1 * record.best.losses[0]
    assert not model.training


def test_equal_seeds_give_equal_results_and_leave_the_callers_randomness_alone() -> None:
    machine, buffer = map_env(4, episodes=20)
    found = []
    for _ in range(2):
        model = fresh(machine)
        before = torch.random.get_rng_state()
        record = fit(model, buffer, config=FitConfig(objective="sequence", epochs=12, restarts=2))
        assert torch.equal(torch.random.get_rng_state(), before)
        found.append((record.best.losses, model.state_dict()))
    assert found[0][0] == found[1][0]
    for name, value in found[0][1].items():
        assert torch.equal(value, found[1][1][name])


@pytest.mark.parametrize("epochs", [1, 2, 6])
def test_the_last_steps_count_too(epochs: int) -> None:
    machine, buffer = map_env(3, episodes=30)
    model = fresh(machine)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    config = FitConfig(objective="sequence", epochs=epochs, restarts=1, held_out=0.0)
    record = fit(model, buffer, config=config)
    assert any(not torch.equal(value, before[name]) for name, value in model.state_dict().items())
    # While the loss falls from step to step, the parameters after the last one are the best.
    assert record.best.losses == tuple(sorted(record.best.losses, reverse=True))
    assert record.best.train < 0.999 * record.best.losses[-1]


def test_the_parameters_with_the_least_loss_are_kept() -> None:
    machine, buffer = map_env(3, episodes=30)
    model = fresh(machine)
    # Steps so large that the loss goes up and down.
    record = fit(
        model, buffer, config=FitConfig(objective="sequence", epochs=30, restarts=1, learning_rate=0.5, held_out=0.0)
    )
    least = min(record.best.losses)
    assert least < record.best.losses[-1]
    assert record.best.train == pytest.approx(least, rel=1e-3)


def test_the_best_attempt_is_kept_not_the_last() -> None:
    machine, buffer = map_env(4, episodes=30)
    model = fresh(machine)
    record = fit(model, buffer, config=FitConfig(objective="sequence", epochs=15, restarts=4, target=1e-9))
    assert len(record.attempts) == 4
    assert record.best == min(record.attempts, key=lambda attempt: attempt.held_out)
    _, held = buffer.split(0.15, torch.Generator().manual_seed(0))
    batch = buffer.batch().pick(torch.tensor(held))
    total, _ = model.batch_log_likelihood(batch, model.ground(batch.observations))
    assert -float(total.sum().detach()) / batch.steps == pytest.approx(record.best.held_out, rel=1e-4)


def test_labelled_observations_choose_among_the_symmetries() -> None:
    machine, buffer = map_env(1)
    named = [cell for cell, symbol in enumerate(TRUE) if symbol in (0, 1)]
    for wanted in ((0, 1), (1, 0)):
        model = fresh(machine)
        few = (CELLS[named], torch.tensor([wanted[TRUE[cell]] for cell in named]))
        record = fit(model, buffer, config=FitConfig(epochs=200), labelled=few)
        assert record.explained
        assert [letters(model)[cell] for cell in named] == few[1].tolist()


def test_two_tasks_share_one_grounder_and_leave_no_shortcut() -> None:
    both = [map_env(2, episodes=120), map_env(8, episodes=120)]
    tasks, buffer = of_several_tasks([machine for machine, _ in both], [buffer for _, buffer in both])
    torch.manual_seed(0)
    model = NeuralRewardMachine(MlpGrounder(2, 5), tasks)
    assert fit(model, buffer, config=FitConfig(epochs=400, restarts=6)).explained
    # The pair leaves only the true grounding: plain accuracy, without any allowance.
    assert letters(model) == TRUE


def test_dropout_is_on_while_learning_and_off_after() -> None:
    machine, buffer = map_env(3, episodes=10)
    modes = []

    class Watching(MlpGrounder):
        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            modes.append(self.training)
            return super().forward(observations)

    model = NeuralRewardMachine(Watching(2, 5, dropout=0.1), machine)
    fit(model, buffer, config=FitConfig(objective="sequence", epochs=3, restarts=1))
    assert modes[:4] == [False, True, True, True]  # it is tried once before it learns
    assert modes[-1] is False
    assert not model.grounder.training


def test_batch_statistics_ground_every_step() -> None:
    machine, buffer = map_env(3, episodes=10)
    rows = []

    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 5), nn.Softmax(-1))

        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            rows.append(len(observations))
            result: torch.Tensor = self.layers(observations)
            return result

    fit(
        NeuralRewardMachine(Normed(), machine),
        buffer,
        config=FitConfig(objective="sequence", epochs=2, restarts=1, held_out=0.0),
    )
    assert rows[1] == buffer.steps  # after the first try on a few observations


@pytest.mark.parametrize("end", [nn.Sigmoid(), nn.Softplus(), nn.Identity()])
def test_a_grounder_that_gives_no_probabilities_is_refused_before_it_learns(end: nn.Module) -> None:
    machine = nrm.compile("F a", ["a", "b", "c"])
    buffer = EpisodeBuffer.for_machine(machine)
    buffer.add(np.ones((3, 2), dtype=np.float32), rewards=[0.0, 100.0, 0.0])
    layer = nn.Linear(2, 3)
    grounder = nn.Sequential(layer, end)
    before = layer.weight.detach().clone()
    with pytest.raises(ProbabilityError, match="softmax"):
        fit(NeuralRewardMachine(grounder, machine), buffer, "grounding", FitConfig(epochs=3, restarts=1))
    assert torch.equal(layer.weight, before)


def test_a_task_that_contradicts_the_episodes_is_refused() -> None:
    other = EpisodeBuffer(task(3).levels, 0.0)
    # F(a & F b): from potential 100 there is no way back to 0.
    other.add([[0.0, 0.0]] * 3, levels=[0, 1, 0])
    with pytest.raises(ContradictionError, match=r"episode 0, step 2.*potential 0\b.*50, 100"):
        fit(fresh(task(3)), other)


def test_bad_requests_are_refused() -> None:
    machine, buffer = map_env(1, episodes=3)
    model = fresh(machine)
    with pytest.raises(LearningError, match=r"not 'machine'.*nrm\.discover"):
        fit(model, buffer, "machine")
    with pytest.raises(LearningError, match="no parameters to learn"):
        fit(NeuralRewardMachine(TrueLabels(5), machine), buffer)
    with pytest.raises(EpisodeError, match="the buffer is empty"):
        fit(model, EpisodeBuffer.for_machine(machine))
    other = EpisodeBuffer([0.0, 1.0])
    other.add([[0.0, 0.0]], levels=[0])
    with pytest.raises(EpisodeError, match=r"\b0, 1\b.*0, 50, 100"):
        fit(model, other)
    with pytest.raises(AlphabetError, match="0 to 4"):
        fit(model, buffer, labelled=(CELLS[:1], torch.tensor([9])))
    with pytest.raises(ProbabilityError, match=r"observation 1.*nan"):
        fit(model, buffer, labelled=(torch.tensor([[0.0, 0.0], [0.0, torch.nan]]), torch.tensor([0, 1])))
    with pytest.raises(EpisodeError, match=r"\b1 .*\b2 letters"):
        fit(model, buffer, labelled=(CELLS[:1], torch.tensor([0, 1])))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "marginl"}, "did you mean 'marginal'"),
        ({"epochs": 0}, "epochs.*0"),
        ({"held_out": 1.0}, "held_out.*1.0"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(LearningError, match=message):
        FitConfig(**settings)  # type: ignore[arg-type]


def test_recorded_episodes_are_as_good_as_a_buffer() -> None:
    machine, buffer = map_env(3, 20)
    walks = envs.record_many(machine, 20, 0)
    log = record_episodes([envs.as_map(walk.cells) for walk in walks], [walk.rewards for walk in walks])
    config = FitConfig(objective="sequence", epochs=5, restarts=1)
    results = []
    for episodes in (buffer, log):
        model = fresh(machine)
        results.append(fit(model, episodes, config=config).best.train)
    assert results[0] == results[1]
    with pytest.raises(EpisodeError, match=r"EpisodeBuffer.*RecordedEpisodes.*dict"):
        fit(model, {})  # type: ignore[arg-type]
    lost = record_episodes([np.zeros((2, 2))], [np.array([0.0, -200.0])])  # of a task that starts at potential 100
    assert as_buffer(lost, fresh(nrm.compile("G !pickaxe", envs.SYMBOLS)).machine)[0].levels.tolist() == [1, 0]


def test_lists_and_arrays_are_taken_for_tensors() -> None:
    machine, _ = map_env(3, 1)
    model = fresh(machine).eval()
    rows = [[0.0, 0.5], [1.0, -1.0], [0.5, 0.5]]
    tensor = torch.tensor(rows)
    frozen = np.array(rows)
    frozen.flags.writeable = False
    for same in (rows, frozen):
        assert torch.equal(model.ground(same), model.ground(tensor))
        batch: Any = [same]
        assert torch.equal(model(batch).states, model(tensor[None]).states)
        known = model.filter(batch, [[0, 0, 0]]).states
        assert torch.equal(known, model.filter(tensor[None], torch.zeros(1, 3)).states)
        assert torch.isfinite(model.log_likelihood(batch, np.zeros((1, 3), dtype=np.int64))).all()
        after = model.step(same, model.initial_belief(3).tolist())
        assert torch.equal(after.belief, model.step(tensor).belief)
    with pytest.raises(EpisodeError, match=r"observations.*lengths"):
        model([[[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]])
    with pytest.raises(EpisodeError, match=r"observations.*'abc'"):
        model.ground("abc")
    with pytest.raises(EpisodeError, match="observations"):
        model.ground(1.0)
    with pytest.raises(EpisodeError, match=r"beliefs.*\(1, 2\).*\(3, 3\)"):
        model.step(rows, [[1.0, 0.0]])
