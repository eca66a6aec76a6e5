"""One task through the view of tasks: `--network.view task`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nrm
from nrm.agents import NetworkConfig, Trainer, evaluate, new_trainer, play
from nrm.cli import main
from nrm.envs import MINECRAFT_SYMBOLS, BatchedTasks, MinecraftConfig
from nrm.errors import ConfigError, LimitError
from nrm.machines import task_view
from nrm.neural import MlpGrounder, NeuralRewardMachine
from nrm.runs import choose_run
from nrm.tracking import BeliefMemory, StateMemory, Transition, ViewedMemory

TASK = nrm.compile("F(pickaxe & F gem) & G !lava", MINECRAFT_SYMBOLS)
FEW: dict[str, Any] = {"env": {"size": 3, "letters": 3, "steps": 15}, "tasks": {"count": 4}}
VIEW = task_view(TASK).astype(np.float32)


def trainer(method: str, episodes: int = 300, **network: Any) -> Trainer:
    env = BatchedTasks(MinecraftConfig(), TASK, 16)
    settings = {"network": NetworkConfig(view="task", **network)}
    return new_trainer(env, method, "a2c", episodes=episodes, seed=4, settings=settings)


def test_the_view_of_each_state_and_of_a_belief_by_hand() -> None:
    told = ViewedMemory(StateMemory.of(TASK), TASK)
    assert told.size == VIEW.shape[1]
    assert (told.feature(torch.arange(TASK.states)).numpy() == VIEW).all()
    assert told.table is not None
    assert (told.table.numpy() == VIEW).all()
    model = NeuralRewardMachine(MlpGrounder(2, len(MINECRAFT_SYMBOLS)), TASK).eval()
    inner = BeliefMemory(model, None, "open-loop")
    memory = ViewedMemory(inner, TASK)
    nothing = torch.zeros(2)
    carry = memory.read(memory.start(2), Transition(torch.rand(2, 2), None, nothing.long(), nothing, None))
    belief = inner.feature(carry).double().numpy()
    assert (belief > 0.01).sum() > 2
    np.testing.assert_allclose(memory.feature(carry).numpy(), belief @ VIEW, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(memory.feature(memory.start(1)).numpy()[0], VIEW[TASK.initial])


@pytest.mark.parametrize("method", ["rm", "nrm"])
def test_runs_go_on_as_if_never_stopped_and_states_are_still_known(method: str) -> None:
    whole = trainer(method)
    whole.run()
    half = trainer(method)
    while len(half.history.returns) < 150:
        half.update()
    resumed = trainer(method)
    resumed.load_state_dict(half.state_dict())
    resumed.run()
    assert resumed.history == whole.history
    env = BatchedTasks(MinecraftConfig(), TASK, 4)
    step = next(play(whole, env, 0, greedy=True))
    assert step.belief is not None
    assert step.belief.shape == (4, TASK.states)
    found = evaluate(whole, env, 8, 0, greedy=True)
    if method == "rm":
        assert found.state_accuracy == 1.0
    else:
        assert step.said is not None
        assert found.grounding is not None


def test_the_task_is_learned_through_the_view() -> None:
    run = trainer("rm", episodes=1500)
    run.run()
    assert np.mean(run.history.successes[-100:]) > 0.9


def test_bad_requests() -> None:
    with pytest.raises(ConfigError, match="'rnn'"):
        trainer("rnn")
    many = choose_run(None, "letter", "rm", 0, tasks="reach", settings={**FEW, "network": {"view": "state"}})
    with pytest.raises(ConfigError, match=r"--network\.view"):
        many.build_trainer()
    with pytest.raises(ConfigError, match=r"'tasks'.*'task'"):
        NetworkConfig(view="tasks")  # type: ignore[arg-type]
    wide = nrm.compile("F p0", [f"p{number}" for number in range(5001)])
    with pytest.raises(LimitError, match=r"--network\.view state"):
        ViewedMemory(StateMemory.of(wide), wide)


def test_the_short_option(tmp_path: Path) -> None:
    command = ["train", "--task", "1", "--method", "rm", "--network.view", "task", "--total-episodes", "20", "--quiet"]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--out", str(tmp_path / "run")])
    assert not ended.value.code
    saved = json.loads((tmp_path / "run" / "config.json").read_text())
    assert saved["settings"]["network"]["view"] == "task"
