"""Training as a whole: environments are solved, equal seeds give equal runs, and only RM learns from the truth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

import nrm
from nrm.agents import METHODS, NetworkConfig, Trainer, evaluate, new_trainer
from nrm.agents.a2c import A2C, A2CConfig
from nrm.envs import BatchedTasks, GymVectorEnv, MinecraftConfig, MinecraftEnv, TaskEnv, Truth
from nrm.errors import ConfigError, LimitError
from nrm.tracking import GroundingConfig, accuracy

UNAIDED = [name for name in METHODS if name not in ("naive", "independent-belief")]
"""Methods that need no detector."""

CORRIDOR = MinecraftConfig(size=(3, 1), items=["gem@1,0", "lava@2,0"], steps=12)
"""Three cells in a row: start, gem, lava."""
SYMBOLS = ("gem", "lava", "empty")
QUICK = {"algorithm": A2CConfig(learning_rate=3e-3), "grounding": GroundingConfig(every=40, epochs=100)}


def corridor(formula: str = "F gem & F lava", count: int = 8, **options: Any) -> BatchedTasks:
    config = replace(CORRIDOR, **options)
    return BatchedTasks(config, nrm.compile(formula, SYMBOLS), count)


def trainer(env: BatchedTasks, method: str, episodes: int, seed: int, **grounding: Any) -> Trainer:
    settings = {**QUICK, "grounding": replace(QUICK["grounding"], **grounding)}  # type: ignore[type-var]
    return new_trainer(env, method, episodes=episodes, seed=seed, settings=settings)


def run(made: Trainer, updates: int | None = None) -> Trainer:
    while not made.done and (updates is None or made.updates < updates):
        made.update()
    return made


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_a_trivial_env_is_solved(method: str) -> None:
    # From the middle to one end and then to the other: on the way back the middle looks as it did before.
    env = corridor("F(gem & F lava)", items=["gem@0,0", "lava@2,0"], start=(1, 0))
    made = run(trainer(env, method, 1200 if method == "rnn" else 400, seed=1))
    assert made.history.mean_return() > 90
    if METHODS[method].grounds:
        assert made.history.accuracy[-1][3] == 1.0


@pytest.mark.filterwarnings("ignore:no observation of training triggered")
@pytest.mark.parametrize("method", UNAIDED)
def test_equal_seeds_give_equal_runs(method: str) -> None:
    runs = [run(trainer(corridor(), method, 150, seed)) for seed in (3, 3, 4)]
    assert runs[0].history == runs[1].history
    assert runs[0].history.lengths != runs[2].history.lengths
    one, other = (made.learner for made in runs[:2])
    assert isinstance(one, A2C)
    assert isinstance(other, A2C)
    for first, second in zip(one.actor.parameters, other.actor.parameters, strict=True):
        assert torch.equal(first, second)


@pytest.mark.parametrize("method", UNAIDED)
@pytest.mark.parametrize("observation", ["map", "image"])
def test_a_saved_run_goes_on_as_if_never_stopped(method: str, observation: str) -> None:
    def begin() -> Trainer:
        env = corridor(observation=observation, slip=0.1)
        return trainer(env, method, 130 if observation == "map" else 60, seed=5, every=25, epochs=20)

    whole = run(begin())
    half = run(begin(), updates=whole.updates // 2)
    resumed = begin()
    resumed.load_state_dict(half.state_dict())
    assert run(resumed).history == whole.history


class Liar(BatchedTasks):
    """An environment that tells false states."""

    @property
    def truth(self) -> Truth:
        label, state, final_state = super().truth
        return Truth(label, 1 - state.clamp(max=1), 1 - final_state.clamp(max=1))


@pytest.mark.filterwarnings("ignore:no observation of training triggered")
@pytest.mark.parametrize("method", UNAIDED)
def test_only_methods_with_the_true_machine_act_on_the_truth(method: str) -> None:
    machine = nrm.compile("F gem & F lava", SYMBOLS)
    honest, lying = (
        run(trainer(kind(CORRIDOR, machine, 4), method, 60, seed=0)).history for kind in (BatchedTasks, Liar)
    )
    assert honest.successes != lying.successes  # which are told by the state
    assert (honest.lengths == lying.lengths) == (method not in ("rm", "hrm"))


def test_labels_are_not_needed_for_learning_the_grounding(monkeypatch: pytest.MonkeyPatch) -> None:
    with_labels = run(trainer(corridor(), "nrm", 120, seed=2))

    monkeypatch.setattr(BatchedTasks, "probe", lambda env, count, seed=0: None)
    without = run(trainer(corridor(), "nrm", 120, seed=2))
    assert without.history.returns == with_labels.history.returns
    # Without observations to look at, accuracy is that over the episodes learned from.
    assert [modulo for _, _, _, modulo in without.history.accuracy] == [1.0]


def test_returns_are_what_was_earned_also_where_outputs_are_paid() -> None:
    # Every step in state 1 pays 1 again: 15 steps there earn 15, which is no potential.
    machine = nrm.compile("F gem", SYMBOLS, reward="acceptance")
    config = MinecraftConfig(size=(2, 1), items=["gem@1,0"], steps=15)
    env = GymVectorEnv.of(lambda: TaskEnv(MinecraftEnv(config), machine, end="limit", pay="outputs"), 4)
    made = run(trainer(env, "rm", 60, seed=0))  # type: ignore[arg-type]
    assert max(made.history.returns) > 10


def test_levels_a_thousand_times_larger_or_smaller_are_told_apart() -> None:
    for factor in (1e3, 1.0, 1e-3):
        machine = nrm.compile("F(gem & F lava)", SYMBOLS)
        machine = machine.with_outputs(machine.outputs * factor)
        settings = {"algorithm": A2CConfig(learning_rate=3e-3, reward_scale=0.01 / factor)}
        made = new_trainer(BatchedTasks(CORRIDOR, machine, 8), "rm", episodes=400, seed=1, settings=settings)
        assert made.run().mean_return() == pytest.approx(100 * factor)
        found = evaluate(made, BatchedTasks(CORRIDOR, machine, 4), 20, seed=1, greedy=True)
        assert found.success_rate == 1.0
        assert found.mean_return == pytest.approx(100 * factor)


def test_too_many_symmetries_leave_out_a_metric_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def hopeless(*_: object) -> None:
        found.append(1)
        raise LimitError("933,120 symmetries are too many")

    monkeypatch.setattr(accuracy, "best_symmetry", hopeless)
    made = run(trainer(corridor(), "nrm", 150, seed=0, every=25, epochs=5))
    assert made.meter.note == "accuracy up to equivalence is left out: 933,120 symmetries are too many"
    assert len(found) == 1  # and not once an update
    assert len(made.history.accuracy) >= 2
    assert all(math.isnan(row[3]) and 0 <= row[1] <= 1 for row in made.history.accuracy)


def test_unknown_methods_and_algorithms() -> None:
    with pytest.raises(ConfigError, match="nmr"):
        new_trainer(corridor(), "nmr")
    with pytest.raises(ConfigError, match=r"'a2'.*'a2c'"):
        new_trainer(corridor(), "nrm", "a2")
    with pytest.raises(ConfigError, match=r"num_steps.*0"):
        A2CConfig(num_steps=0)


def test_without_a_memory_only_half_of_the_way_back_is_found() -> None:
    # From the middle to one end and then to the other: what is seen in the middle does not tell where to go.
    env = corridor("F(gem & F lava)", items=["gem@0,0", "lava@2,0"], start=(1, 0))
    made = run(trainer(env, "memoryless", 200, seed=1))
    told = run(trainer(env, "rm", 200, seed=1))
    assert sum(made.history.lengths[-50:]) > 1.5 * sum(told.history.lengths[-50:])
    assert made.learner.memory.size == 1


def test_a_blind_network_acts_alike_whatever_it_sees() -> None:
    env = corridor()
    made = new_trainer(env, "memoryless", settings={"network": NetworkConfig(encoder="blind")})
    policy = made.learner.policy
    rows = policy.encoder(torch.randn(5, 2))
    with torch.no_grad():
        logits, _ = policy(rows, torch.ones(5, 1))
    torch.testing.assert_close(logits, logits[:1].expand(5, -1))
    run(made, updates=3)
