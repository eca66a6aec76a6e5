"""Tasks one by one, and by the size of their machines."""

from __future__ import annotations

import pytest

from nrm.agents import TaskOutcome, by_size, evaluate, evaluate_tasks, play
from nrm.machines import TaskSet
from nrm.runs import RunConfig, choose_run
from tests.results.folders import LETTERS

SETTINGS = {"env": LETTERS, "tasks": {"count": 6}, "algorithm": {"minibatch_size": 128, "update_epochs": 1}}


def config(method: str) -> RunConfig:
    return choose_run(None, "letter", method, tasks="reach", total_timesteps=200, num_envs=4, settings=SETTINGS)


def test_sizes_by_hand() -> None:
    rates = {3: (1.0, 0.5), 4: (0.0,), 5: (1.0,), 40: (0.25,), 500: (0.75,)}
    outcomes = [TaskOutcome("x", states, 10, rate, None) for states, some in rates.items() for rate in some]
    assert by_size(outcomes) == (
        (3, 4, 3, 0.5, 0.0),
        (5, 5, 1, 1.0, 1.0),
        (40, 40, 1, 0.25, 0.25),
        (500, 500, 1, 0.75, 0.75),
    )


def test_each_task_is_tried_by_itself() -> None:
    run = config("nrm")
    trainer = run.build_trainer()
    pool = TaskSet.of(["F a", "F(b & F c)"], run.alphabet)
    told: list[int] = []
    found = evaluate_tasks(trainer, run.build_env, pool, 6, 100, progress=told.append)
    assert told == [1, 2]
    assert [one.name for one in found] == ["F a", "F(b & F c)"]
    assert [one.episodes for one in found] == [6, 6]
    slow = evaluate(trainer, run.build_env(6, pool.subset([1])), 6, 101, greedy=False, belief="open-loop")
    assert found[1] == slow.by_task[0]


@pytest.mark.parametrize("method", ["rm", "nrm", "rnn"])
def test_beliefs_are_over_the_states_of_the_own_machine(method: str) -> None:
    run = config(method)
    trainer = run.build_trainer()
    pool = TaskSet.of(["F a", "F(b & F c)", "F(a & F(b & F c))"], run.alphabet)
    env = run.build_env(8, pool)
    for number, played in enumerate(play(trainer, env, 3, greedy=False)):
        if method == "rnn":
            assert played.belief is None
            break
        assert played.belief is not None
        assert played.belief.shape == (8, pool.max_states)
        assert played.belief.sum(1).tolist() == pytest.approx([1.0] * 8, abs=1e-5)
        if method == "rm":
            own = [pool.local(int(state)) for state in played.state]
            assert [task for task, _ in own] == played.task.tolist()
            assert played.belief.argmax(1).tolist() == [state for _, state in own]
        if number == 12:
            break
