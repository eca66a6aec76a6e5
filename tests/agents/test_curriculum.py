"""Which tasks the next episodes have, by success."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nrm
from nrm.agents import Trainer, new_trainer
from nrm.agents.curriculum import JUDGED, SuccessCurriculum, least_steps
from nrm.envs import GymVectorEnv
from nrm.envs.letter import LetterConfig, LetterEnv
from nrm.errors import ConfigError
from nrm.machines import TaskSet
from nrm.runs import RunFolder, choose_run, train
from nrm.samplers import TaskSetConfig

SMALL: dict[str, Any] = {"size": 3, "letters": 3, "steps": 15}
ALPHABET = LetterConfig(**SMALL).alphabet
CHAINS = TaskSet.of(["F a", "F(a & F b)", "F(a & F(b & F c))"], ALPHABET)


def small_run(steps: int = 1500, family: str = "mixture", **tasks: Any) -> Trainer:
    settings = {
        "env": SMALL,
        "tasks": {"count": 20, **tasks},
        "algorithm": {"minibatch_size": 128, "update_epochs": 4},
        "grounding": {"every": 60, "epochs": 10, "restarts": 2},
    }
    config = choose_run(None, "letter", "nrm", 3, tasks=family, total_timesteps=steps, num_envs=16, settings=settings)
    return config.build_trainer()


def test_longer_tasks_come_in_by_success() -> None:
    curriculum = SuccessCurriculum(CHAINS)
    assert curriculum.weights().tolist() == [1, 0, 0]
    curriculum.note([(0, True)] * (JUDGED - 1))
    assert curriculum.longest == 1
    curriculum.note([(0, False)] * (JUDGED // 4))  # the last ones count: three quarters
    assert (curriculum.longest, curriculum.success) == (1, 0.75)
    curriculum.note([(0, True)] * JUDGED)
    assert curriculum.longest == 2
    assert np.isnan(curriculum.success)
    # Half of one of the two that are drawn, half of the longest.
    assert curriculum.weights().tolist() == [0.25, 0.75, 0]
    curriculum.note([(0, True)] * JUDGED)
    assert curriculum.longest == 2  # what is known already says nothing
    curriculum.note([(1, True)] * JUDGED)
    assert curriculum.weights() == pytest.approx([1 / 3] * 3)
    lower = SuccessCurriculum(CHAINS, 0.75)
    lower.note([(0, True)] * (3 * JUDGED // 4) + [(0, False)] * (JUDGED // 4))
    assert lower.longest == 2
    again = SuccessCurriculum(CHAINS)
    again.load_state_dict(curriculum.state_dict())
    assert again.longest == 3


def test_with_the_emphasis_on_the_shortest_half_have_one_of_those() -> None:
    curriculum = SuccessCurriculum(CHAINS, emphasis="shortest")
    assert curriculum.weights().tolist() == [1, 0, 0]
    curriculum.note([(0, True)] * JUDGED)
    assert curriculum.weights().tolist() == [0.75, 0.25, 0]
    curriculum.note([(1, True)] * JUDGED)
    assert curriculum.weights() == pytest.approx([2 / 3, 1 / 6, 1 / 6])  # to the end
    trainer = small_run(curriculum="success", emphasis="shortest")
    assert trainer.curriculum is not None
    assert trainer.tasks is not None
    trainer.curriculum.stage = 1
    assert trainer.curriculum.weights()[least_steps(trainer.tasks) == 1].sum() > 0.5
    with pytest.raises(ConfigError, match=r"unknown emphasis 'shortes'; did you mean 'shortest'\?"):
        TaskSetConfig(emphasis="shortes")  # type: ignore[arg-type]


def test_choices_go_into_the_env_and_runs_go_on_exactly(tmp_path: Path) -> None:
    whole = small_run(curriculum="success", curriculum_threshold=0.5)
    assert whole.curriculum is not None
    assert whole.tasks is not None
    steps = whole.tasks.union.distance_to_acceptance[whole.tasks.initial]
    assert steps[whole.env.task].max() > 1
    first: Any = whole.learner.collect()
    begun = first.done[:-1].nonzero()
    assert (steps[first.task[begun[:, 0] + 1, begun[:, 1]]] == 1).all()  # every episode that began since
    whole = small_run(curriculum="success", curriculum_threshold=0.5)
    whole.run()
    half = small_run(curriculum="success", curriculum_threshold=0.5)
    while half.steps < 700:
        half.update()
    resumed = small_run(curriculum="success", curriculum_threshold=0.5)
    resumed.load_state_dict(half.state_dict())
    resumed.run()
    assert resumed.history == whole.history
    np.testing.assert_equal(np.array(resumed.history.choices), np.array(whole.history.choices))
    assert whole.history.choices[-1].longest > 1


def test_what_was_decided_is_kept_with_the_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    settings = {"env": SMALL, "tasks": {"count": 20, "curriculum": "success"}}
    folder.begin(
        choose_run(None, "letter", "rm", 3, tasks="reach", total_timesteps=1500, num_envs=16, settings=settings)
    )
    train(folder, folder.load())
    columns = folder.curriculum()
    assert columns is not None
    assert list(columns) == ["episode", "longest", "tasks", "success"]
    assert len(columns["episode"]) == 3
    assert (columns["longest"] >= 1).all()


def test_bad_requests() -> None:
    with pytest.raises(ConfigError, match=r"unknown curriculum 'sucess'; did you mean 'success'\?"):
        TaskSetConfig(curriculum="sucess")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"curriculum_threshold.*1.5"):
        TaskSetConfig(curriculum_threshold=1.5)
    env = GymVectorEnv.of(lambda: nrm.TaskEnv(LetterEnv(**SMALL), CHAINS), 2)
    with pytest.raises(ConfigError, match="samples all tasks equally often"):
        new_trainer(env, "rm", "ppo", settings={"tasks": TaskSetConfig(curriculum="success")})
