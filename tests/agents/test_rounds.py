"""Rounds of infinite tasks: environments that go on, and counts along true letters."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nrm.agents import evaluate, play
from nrm.envs import find_env
from nrm.machines import Rounds, Task
from nrm.runs import RunConfig, choose_run
from tests.results.folders import LETTERS

TASK = "GF pickaxe & GF gem & G !lava"
SYMBOLS = ("pickaxe", "lava", "door", "gem", "empty")


def rounds(text: str = TASK) -> Rounds:
    return Rounds.of_task(Task.of(text, SYMBOLS, logic="ltl"))


def test_an_environment_goes_on_after_a_round() -> None:
    env = find_env("map").build(rounds(), 32, "round")
    env.reset(0)
    generator = torch.Generator().manual_seed(0)
    went_on = began = 0
    age = np.zeros(32, dtype=int)
    for _ in range(300):
        shown = env.step(torch.randint(4, (32,), generator=generator))
        truth, age = env.truth, age + 1
        for place in np.flatnonzero((shown.terminated | shown.truncated).numpy()).tolist():
            assert int(truth.state[place]) == env.machine.initial
            if env.machine.accepting[int(truth.final_state[place])] and age[place] < 50:
                assert torch.equal(shown.observation[place], shown.final_observation[place])
                went_on += 1
            else:
                began += 1
                age[place] = 0
    assert went_on > 5
    assert began > 5


def test_a_saved_environment_goes_on_from_where_it_is() -> None:
    env, other = (find_env("map").build(rounds(), 8, "round") for _ in range(2))
    env.reset(0)
    actions = torch.randint(4, (120, 8), generator=torch.Generator().manual_seed(1))
    for action in actions[:60]:
        env.step(action)
    other.load_state_dict(env.state_dict())
    for action in actions[60:]:
        for left, right in zip(env.step(action), other.step(action), strict=True):
            torch.testing.assert_close(left, right)


def config(task: str | None, tasks: str | None = None) -> RunConfig:
    small = {"algorithm": {"minibatch_size": 128, "update_epochs": 1}} if tasks else {}
    more = {"env": LETTERS, "tasks": {"count": 6}} if tasks else {}
    env = "letter" if tasks else "map"
    task = None if tasks else f"ltl: {task}"
    return choose_run(task, env, "rm", tasks=tasks, total_timesteps=200, num_envs=4, settings={**small, **more})


@pytest.mark.parametrize("tasks", [None, "reach"])
def test_counts_are_those_of_a_plain_loop(tasks: str | None) -> None:
    run = config(TASK, tasks)
    trainer = run.build_trainer()
    a, b, c = run.alphabet.symbols[:3]
    given = Rounds.of_task(Task.of(f"GF {a} & GF {b} & G !{c}", run.alphabet, logic="ltl"))
    env = run.build_env(4, given)
    found = evaluate(trainer, env, 12, 5, greedy=False)
    assert found.rounds is not None
    counts: list[tuple[int, int, int, bool]] = []
    seen, now = [set[str]() for _ in range(4)], [[0, 0] for _ in range(4)]
    for played in play(trainer, run.build_env(4, given), 5, greedy=False):
        for place in range(4):
            symbol = run.alphabet.letter_name(int(played.label[place]))
            now[place][0] += symbol in (a, b)
            seen[place] |= {symbol} & {a, b}
            if seen[place] == {a, b}:
                now[place][1] += 1
                seen[place] = set()
            if played.done[place]:
                counts.append((place, now[place][0], now[place][1], symbol == c))
                seen[place], now[place] = set(), [0, 0]
        if all(sum(one[0] == place for one in counts) >= 3 for place in range(4)):
            break
    first = [one[1:] for place in range(4) for one in [one for one in counts if one[0] == place][:3]]
    assert found.rounds == pytest.approx(tuple(np.mean(first, axis=0)))
    assert found.rounds.violation_rate == np.mean([one[2] for one in first])


@pytest.mark.parametrize("method", ["rm", "nrm"])
def test_an_agent_trains_by_rounds_and_is_tested_on_end(method: str) -> None:
    run = choose_run(f"ltl: {TASK}", "map", method, total_episodes=20, num_envs=4)
    trainer = run.build_trainer()
    trainer.run()
    assert len(trainer.history.returns) >= 20
    found = evaluate(trainer, run.build_env(4), 4, 0, greedy=False, belief="filtered")
    assert found.rounds is not None
    assert found.mean_length == 50 or found.rounds.violation_rate > 0
