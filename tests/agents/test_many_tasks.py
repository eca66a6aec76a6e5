"""One agent for many tasks: an episode's machine is its own, runs repeat and resume, unseen formulas are executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nrm
from nrm.agents import Trainer, evaluate
from nrm.envs import BatchedTasks
from nrm.envs.letter import LetterConfig, LetterEnv
from nrm.errors import ConfigError, EnvError, NrmError
from nrm.machines import TaskSet, task_view
from nrm.neural import AttendingGrounder, NeuralRewardMachine
from nrm.runs import RunFolder, choose_run, train
from nrm.samplers import sample_tasks
from nrm.tracking import Memory, StateMemory, TaskBeliefMemory, Transition

SMALL: dict[str, Any] = {"size": 3, "letters": 3, "steps": 15}
QUICK = {"minibatch_size": 128, "update_epochs": 4}
ALPHABET = LetterConfig(**SMALL).alphabet


def small_run(method: str, steps: int, seed: int = 3, family: str = "reach", **settings: Any) -> Trainer:
    sections = {"env": SMALL, "tasks": {"count": 12}, "algorithm": QUICK, **settings}
    config = choose_run(
        None, "letter", method, seed, tasks=family, total_timesteps=steps, num_envs=16, settings=sections
    )
    return config.build_trainer()


def test_the_view_of_a_true_state_and_of_a_belief_by_hand() -> None:
    tasks = TaskSet.of(["F a", "F(b & F c)", "!a U c"], ALPHABET)
    view = task_view(tasks.union)
    told = StateMemory(tasks)
    assert told.feature(told.begin(torch.tensor([1, 2]))).tolist() == view[tasks.initial[[1, 2]]].astype("f4").tolist()

    class Sure(torch.nn.Module):
        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            """Letters are given: 0.75 for the one shown, 0.25 for `empty`."""
            one_hot = torch.nn.functional.one_hot(observations.long(), 4).float()
            return 0.75 * one_hot + 0.25 * torch.eye(4)[3]

    model = NeuralRewardMachine(Sure(), tasks).eval()
    memory = TaskBeliefMemory(model, None, "open-loop")
    carry = memory.begin(torch.tensor([1, 0]))
    nothing = torch.zeros(2)
    after = memory.read(carry, Transition(torch.tensor([1, 1]), None, nothing.long(), nothing, None))
    # b moves the second task on with 0.75; the first task does not care.
    first = int(tasks.first[1])
    machine = tasks.machines[1]
    on = first + machine.step(machine.initial, "b")
    expected = 0.75 * view[on] + 0.25 * view[tasks.initial[1]]
    np.testing.assert_allclose(memory.feature(after)[0].numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(memory.feature(after)[1].numpy(), view[tasks.initial[0]], rtol=1e-5)
    assert memory.task(after).tolist() == [1, 0]
    # c ends the second task where b was read before: what is done next matters only where it was not, or c is not.
    later = memory.read(after, Transition(torch.tensor([2, 1]), None, nothing.long(), nothing, None))
    done = machine.step(machine.step(machine.initial, "b"), "c")
    assert float(memory.states(later)[0, done]) == pytest.approx(0.75 * 0.75)
    expected = (0.25 * view[tasks.initial[1]] + 0.75 * 0.25 * view[on]) / (0.25 + 0.75 * 0.25)
    np.testing.assert_allclose(memory.feature(later)[0].numpy(), expected, rtol=1e-5)


def test_who_is_certain_that_a_task_is_over_sees_it_so() -> None:
    tasks = TaskSet.of(["F a", "!b U c"], ALPHABET)

    class Certain(torch.nn.Module):
        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            """Letters are given, and there is no doubt."""
            return torch.eye(4)[observations.long()]

    memory = TaskBeliefMemory(NeuralRewardMachine(Certain(), tasks).eval(), None, "open-loop")
    seen = Transition(torch.tensor([0, 1]), None, torch.zeros(2).long(), torch.zeros(2), None)
    after = memory.read(memory.begin(torch.tensor([0, 1])), seen)
    over = [tasks.machines[0].step(0, "a") + tasks.first[0], tasks.machines[1].step(0, "b") + tasks.first[1]]
    np.testing.assert_allclose(memory.feature(after).numpy(), task_view(tasks.union)[over], rtol=1e-5)


def test_rewards_read_make_a_belief_certain() -> None:
    tasks = TaskSet.of(["F(b & F c)"], ALPHABET)
    model = NeuralRewardMachine(AttendingGrounder(4, (3, 3, 3)), tasks).eval()
    memory = TaskBeliefMemory(model, None, "filtered")
    seen = Transition(torch.zeros(1, 3, 3, 3), None, torch.zeros(1).long(), torch.tensor([50.0]), None)
    states = memory.states(memory.read(memory.begin(torch.tensor([0])), seen))
    machine = tasks.machines[0]
    assert float(states[0, machine.step(machine.initial, "b")]) == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_runs_repeat_and_go_on_as_if_never_stopped(method: str) -> None:
    changes: dict[str, Any] = {"grounding": {"every": 20, "epochs": 40}} if method == "nrm" else {}
    whole = small_run(method, 1500, **changes)
    whole.run()
    assert whole.steps >= 1500
    again = small_run(method, 1500, **changes)
    while again.steps < 700:
        again.update()
    resumed = small_run(method, 1500, **changes)
    resumed.load_state_dict(again.state_dict())
    resumed.run()
    assert resumed.history == whole.history


def test_each_episode_is_explained_by_its_own_machine() -> None:
    """Episodes given to the grounder with the tasks of others would be contradictions sooner or later."""
    trainer = small_run("nrm", 4000, family="reach-avoid", grounding={"every": 30})
    trainer.run()
    assert trainer.history.accuracy[-1][1] == 1.0  # the plain accuracy, not just modulo shortcuts


def test_a_tiny_family_is_learned_and_an_unseen_formula_satisfied() -> None:
    trainer = small_run("nrm", 16_000, family="reach-avoid", grounding={"every": 30})
    trainer.run()
    unseen = nrm.compile("F(a & F(b & F(c & F a)))", ALPHABET)
    assert unseen not in trainer.tasks.machines
    env = BatchedTasks(LetterConfig(**SMALL), TaskSet.of([unseen]), 50)
    found = evaluate(trainer, env, 100, 7, greedy=False, belief="open-loop")
    assert found.success_rate > 0.7
    assert found.by_task[0].states == unseen.states
    assert found.grounding is not None
    assert found.grounding.plain > 0.99


def test_an_agent_satisfies_formulas_in_a_gymnasium_environment(tmp_path: Path) -> None:
    settings = {"env": SMALL, "tasks": {"count": 12}, "algorithm": QUICK}
    config = choose_run(None, "letter", "rm", 0, tasks="reach", total_timesteps=12_000, num_envs=16, settings=settings)
    folder = RunFolder(tmp_path / "run")
    folder.begin(config)
    train(folder, folder.load())
    agent = nrm.load_run(tmp_path / "run").agent
    env = LetterEnv(**SMALL)
    executed = [agent.execute("F(a & F b)", env, seed=seed) for seed in range(10)]
    assert sum(one.accepted or 0.0 for one in executed) >= 7
    assert executed == [agent.execute("F(a & F b)", env, seed=seed) for seed in range(10)]
    for one in executed:
        assert (one.ended == "done") == bool(one.accepted)
        if one.accepted:
            assert one.letters[-1] == "b"
            assert "a" in one.letters
    assert agent.execute("F(a & F b)", env, seed=0, most_steps=1).ended == "steps"
    short = LetterEnv(**{**SMALL, "steps": 4})
    assert agent.execute("F(a & F(b & F(a & F(b & F(a & F b)))))", short, seed=0).ended == "environment"
    with pytest.raises(NrmError, match="unknown symbol 'z'"):
        agent.execute("F z", env)
    with pytest.raises(ConfigError, match="cannot be satisfied"):
        agent.execute("a & b", env)
    with pytest.raises(ConfigError, match="nothing to execute"):
        agent.execute("G !a", env)
    with pytest.raises(EnvError, match="shape"):
        agent.execute("F a", LetterEnv())


def test_agents_of_one_task_say_so() -> None:
    config = choose_run("F a", "letter", "rm", 0, total_timesteps=512, num_envs=16, settings={"env": SMALL})
    trainer = config.build_trainer()
    trainer.run()
    pool = sample_tasks("reach", ALPHABET, 3, 0)
    with pytest.raises(EnvError, match="trained on one task"):
        evaluate(trainer, BatchedTasks(LetterConfig(**SMALL), pool, 4), 4, 0, greedy=True)


def test_bad_requests() -> None:
    with pytest.raises(ConfigError, match="given together"):
        choose_run("F a", "letter", "rm", 0, tasks="reach")
    with pytest.raises(ConfigError, match="minigrid:MiniGrid-Empty-5x5-v0"):
        choose_run(None, "minigrid:MiniGrid-Empty-5x5-v0", "rm", 0, tasks="reach").build_env()
    with pytest.raises(ConfigError, match="reech"):
        choose_run(None, "letter", "rm", 0, tasks="reech")
    with pytest.raises(ConfigError, match=r"steps.*\b1\b"):
        choose_run(None, "letter", "rm", 0, tasks="reach", total_timesteps=0)
    with pytest.raises(ConfigError, match="many tasks, from reach"):
        choose_run(None, "letter", "rm", 0, tasks="reach").build_task()


def test_a_whole_rollout_of_told_tasks_in_one_call_is_the_rollout_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = small_run("rnn", 1000)
    learner: Any = trainer.learner
    rollout = learner.collect()
    assert bool(rollout.done.any())
    assert len(rollout.task.unique()) > 2
    fast = learner.actor._remembered(rollout)
    weight = torch.randn(fast.shape, generator=torch.Generator().manual_seed(0))
    parameters = list(learner.memory.parameters())
    gradients = torch.autograd.grad((fast * weight).sum(), parameters)
    monkeypatch.setattr(type(learner.memory), "unrolled", Memory.unrolled)
    slow = learner.actor._remembered(rollout)
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
    for one, other in zip(gradients, torch.autograd.grad((slow * weight).sum(), parameters), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
