"""Which tasks the next episodes have: by success, and to teach symbols apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nrm
from nrm.agents import Trainer, new_trainer
from nrm.agents.curriculum import JUDGED, SuccessCurriculum, TaskChooser, Teacher, least_steps
from nrm.envs import VectorWorld
from nrm.envs.letter import LetterConfig, LetterEnv
from nrm.errors import ConfigError
from nrm.families import PoolConfig, draw_pool
from nrm.groundability import pool_shortcuts
from nrm.machines import Alphabet, TaskPool
from nrm.runs import RunFolder, choose_run, train

SMALL: dict[str, Any] = {"size": 3, "letters": 3, "copies": 1, "steps": 15}
ALPHABET = LetterConfig(**SMALL).alphabet
CHAINS = TaskPool.of(["F a", "F(a & F b)", "F(a & F(b & F c))"], ALPHABET)
SURE = torch.eye(4)


def small_run(steps: int = 1500, family: str = "mixture", **tasks: Any) -> Trainer:
    settings = {
        "world": SMALL,
        "tasks": {"count": 20, **tasks},
        "algorithm": {"minibatch": 128, "epochs": 4},
        "grounding": {"every": 60, "epochs": 10, "restarts": 2},
    }
    config = choose_run(None, "letter", "nrm", 3, tasks=family, steps=steps, environments=16, settings=settings)
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
    chooser = small_run(curriculum="success", emphasis="shortest").chooser
    assert chooser is not None
    assert chooser.curriculum is not None
    chooser.curriculum.stage = 1
    assert chooser.curriculum.weights()[least_steps(chooser.tasks) == 1].sum() > 0.5
    with pytest.raises(ConfigError, match=r"unknown emphasis 'shortes'; did you mean 'shortest'\?"):
        PoolConfig(emphasis="shortes")  # type: ignore[arg-type]


def test_tasks_that_tell_apart_what_others_could_not() -> None:
    tasks = TaskPool.of(["F a", "F b", "F(b | c)", "F(a & F b)"], ALPHABET)
    teacher = Teacher(tasks)
    # Nothing is met yet, and all six pairs count alike: all four tasks tell a from b; all but F b a from c; F a and
    # F(a & F b) a from empty; F b alone b from c; F b and F(b | c) b from empty; F(b | c) alone c from empty.
    expected = [1 / 4 + 1 / 3 + 1 / 2, 1 / 4 + 1 + 1 / 2, 1 / 4 + 1 / 3 + 1 / 2 + 1, 1 / 4 + 1 / 3 + 1 / 2]
    assert teacher.weights(teacher.needs(SURE)) == pytest.approx(np.array(expected) / 6)
    teacher.note([0])
    # b, c and empty are one to F a. F b tells b from c and from empty, F(b | c) b and c from empty.
    assert teacher.weights(teacher.needs(SURE)) == pytest.approx([0, 0.5, 0.5, 0])
    teacher.note([1, 2])
    assert teacher.weights(teacher.needs(SURE)) is None
    # The grounder takes a for b half of the time, and all else for what it is.
    torn = torch.tensor([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert teacher.weights(teacher.needs(torn)) == pytest.approx([0.25, 0.25, 0.25, 0.25])
    # It never names c, and calls everything empty.
    empty = torch.tensor([[1e-6, 1e-6, 1e-6, 1 - 3e-6]] * 5)
    assert (teacher.needs(empty) > 0.99).all()
    again = Teacher(tasks)
    again.load_state_dict(teacher.state_dict())
    assert again.weights(again.needs(SURE)) is None


@pytest.mark.parametrize(
    "alphabet", [Alphabet.exclusive(["a", "b", "c", "empty"]), Alphabet.propositional("abc")], ids=lambda one: one.kind
)
def test_no_shortcut_exchanges_letters_whose_first_rewards_differ(alphabet: Alphabet) -> None:
    pool = draw_pool("mixture", alphabet, 40, 1)
    tells, pairs = Teacher(pool)._tells, Teacher(pool)._pairs
    assert 0 < tells.mean() < 1
    for number in range(len(pool)):
        for names in pool_shortcuts(pool.subset([number])).confusable:
            letters = {alphabet.letter(alphabet.read_step(name)) for name in names}
            inside = np.array([left in letters and right in letters for left, right in pairs])
            assert not tells[number, inside].any()


def test_choices_go_into_the_world_and_runs_go_on_exactly(tmp_path: Path) -> None:
    whole = small_run(curriculum="success", teach=0.5)
    assert whole.chooser is not None
    assert whole.tasks is not None
    steps = whole.tasks.union.distance_to_acceptance[whole.tasks.initial]
    assert steps[whole.learner.actor.task].max() > 1  # type: ignore[attr-defined]
    first: Any = whole.learner.collect()
    begun = first.done[:-1].nonzero()
    assert (steps[first.task[begun[:, 0] + 1, begun[:, 1]]] == 1).all()  # every episode that began since
    whole = small_run(curriculum="success", teach=0.5)
    whole.run()
    half = small_run(curriculum="success", teach=0.5)
    while half.steps < 700:
        half.update()
    resumed = small_run(curriculum="success", teach=0.5)
    resumed.load_state_dict(half.state_dict())
    resumed.run()
    assert resumed.history == whole.history
    assert resumed.chooser is not None
    assert whole.chooser is not None
    np.testing.assert_equal(np.array(resumed.history.choices), np.array(whole.history.choices))
    assert whole.history.choices[0].teaching == 0.5
    assert whole.history.choices[-1].longest > 1


def test_rare_tasks_that_teach_are_drawn_more_often(tmp_path: Path) -> None:
    """One task of sixteen tells b from c; the others are about a, or take b and c for one."""
    lines = ["F b"]
    for length in range(2, 17):
        formula = "(b | c)" if length % 2 else "a"
        for place in range(length - 1):
            formula = f"({'a' if (place + length) % 2 else '(b | c)'} & F {formula})"
        lines.append(f"F {formula}")
    (tmp_path / "tasks.txt").write_text("\n".join(lines))
    shares = []
    for teach in (0.0, 0.8):
        trainer = small_run(family=f"file:{tmp_path / 'tasks.txt'}", teach=teach)
        trainer.update()
        weights = trainer.world.runner.weights  # type: ignore[attr-defined]
        shares.append(weights[0] / weights.sum())
    assert shares[0] == 1 / 16
    assert shares[1] > 0.8 / 6  # b from c is one of six pairs


def test_what_was_decided_is_kept_with_the_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    settings = {"world": SMALL, "tasks": {"count": 20, "curriculum": "success"}}
    folder.begin(choose_run(None, "letter", "rm", 3, tasks="reach", steps=1500, environments=16, settings=settings))
    train(folder, folder.load())
    columns = folder.curriculum()
    assert columns is not None
    assert list(columns) == ["episode", "longest", "tasks", "success", "confusable", "teaching"]
    assert len(columns["episode"]) == 3
    assert (columns["longest"] >= 1).all()


def test_bad_requests() -> None:
    with pytest.raises(ConfigError, match=r"unknown curriculum 'sucess'; did you mean 'success'\?"):
        PoolConfig(curriculum="sucess")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="a share from 0 to 1"):
        PoolConfig(teach=1.5)
    assert TaskChooser.of(CHAINS, PoolConfig(teach=0.5), grounds=False) is None
    world = VectorWorld.of(lambda: nrm.TaskEnv(LetterEnv(**SMALL), CHAINS), 2)
    with pytest.raises(ConfigError, match="draws all tasks evenly"):
        new_trainer(world, "rm", "ppo", settings={"tasks": PoolConfig(curriculum="success")})
