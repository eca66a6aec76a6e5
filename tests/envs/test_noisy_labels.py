"""Noisy labelling functions: what is refused, what a detection tells, how often it is wrong, batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

import nrm
from nrm.envs import (
    BatchedTasks,
    GoldMiningConfig,
    GoldMiningEnv,
    MinecraftConfig,
    NoisyLabels,
    NoisyLabelsEnv,
    TaskEnv,
    environment_seeds,
    with_noisy_labels,
)
from nrm.envs.noisy_labels import Seen
from nrm.errors import AlphabetError, EnvError, ProbabilityError
from nrm.machines import Alphabet
from nrm.runs import choose_run

AB = Alphabet.exclusive(["a", "b"])
CONFIG = GoldMiningConfig(gold=2, steps=15)


def machine() -> nrm.MooreMachine:
    return CONFIG.task(None).machine()


def seen(letters: list[int], observations: Any = None, key: int = 5) -> Seen:
    count = len(letters)
    shown = np.arange(count)[:, None] if observations is None else np.asarray(observations)
    return Seen(shown, np.array(letters), np.full(count, key, dtype=np.uint64), np.arange(count))


@pytest.mark.parametrize(
    ("confusion", "offending"),
    [
        ([[0.9, 0.1], [0.5, 0.6]], "1.1"),
        ([[1.2, -0.2], [0.0, 1.0]], "-0.2"),
        ([[0.5, np.nan], [0.0, 1.0]], "nan"),
        ([[1.0, 0.0]], r"\(1, 2\)"),
        ([[1.0, 0.0], [1.0]], "one length"),
        ({"a": {"b": 0.3}}, "0.3"),
        ({"a": {"c": 1.0}}, "'c'"),
        ({"c": {"a": 1.0}}, "'c'"),
        ({"a": {"a": True}}, "True"),
        ({"a": 0.2}, "'a'"),
        (1.5, "-0.5"),
    ],
)
def test_what_is_no_confusion_matrix_is_refused_with_its_place(confusion: Any, offending: str) -> None:
    with pytest.raises(ProbabilityError, match=offending):
        NoisyLabels.confused(confusion, AB)


def test_the_row_that_is_wrong_is_named() -> None:
    with pytest.raises(ProbabilityError, match="'b'"):
        NoisyLabels.confused([[0.9, 0.1], [0.5, 0.6]], AB)
    with pytest.raises(AlphabetError):
        NoisyLabels.confused(0.1, Alphabet.propositional([f"p{number}" for number in range(40)]))


@pytest.mark.parametrize("text", ['{"confusion": {"a": {"b": 0.3}}}', '{"mistakes": 0.1}', '{"persistent": 1}', "{"])
def test_words_that_mean_none_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ProbabilityError):
        NoisyLabels.read(text, AB)
    path = tmp_path / "labels.json"
    path.write_text(text)
    with pytest.raises(ProbabilityError, match=r"labels\.json"):
        NoisyLabels.read(str(path), AB)


def test_a_detection_tells_how_probable_each_symbol_makes_it() -> None:
    labels = NoisyLabels.confused([[0.9, 0.1], [0.3, 0.7]], AB)
    said = {tuple(row) for row in labels.says(seen([0, 1] * 200)).round(6).tolist()}
    # a detected: 0.9 against 0.3; b detected: 0.1 against 0.7.
    assert said == {(0.75, 0.25), (0.125, 0.875)}


def test_symbols_are_confused_as_often_as_the_matrix_says() -> None:
    names = Alphabet.exclusive(["a", "b", "c"])
    matrix = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]])
    labels = NoisyLabels.confused(matrix, names)
    told = matrix.T / matrix.sum(0)[:, None]
    for letter, row in enumerate(matrix):
        said = labels.says(seen([letter] * 6000))
        found = [(np.abs(said - one).max(1) < 1e-9).mean() for one in told]
        assert found == pytest.approx(row.tolist(), abs=0.02)


def test_persistent_detections_go_by_the_observation_and_the_episode() -> None:
    labels = NoisyLabels.confused(0.4, AB, persistent=True)
    first, again = (labels.says(seen([0] * 50, np.arange(50)[:, None] % 5, key)) for key in (1, 1))
    assert (first == again).all()
    assert (first.reshape(10, 5, 2) == first[:5]).all()
    by_episode = [tuple(labels.says(seen([0], [[3]], key))[0].round(6).tolist()) for key in range(200)]
    assert by_episode.count((0.6, 0.4)) / 200 == pytest.approx(0.6, abs=0.12)
    fresh = NoisyLabels.confused(0.4, AB).says(seen([0] * 50, np.zeros((50, 1))))
    assert len({tuple(row) for row in fresh.tolist()}) == 2


def looks(observations: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A detector that calls every dig gold."""
    said = np.zeros((len(observations), 4))
    said[:, 0] = 0.75 * observations[:, 2]
    said[:, 3] = 1 - said[:, 0]
    return said


@pytest.mark.parametrize("text", ["0.3", '{"confusion": {"gold": {"gold": 0.5, "fool": 0.5}}, "persistent": true}', ""])
def test_a_batch_equals_wrapped_environments_step_for_step(text: str) -> None:
    alphabet = CONFIG.alphabet
    labels = NoisyLabels.read(text or f"{__name__}:looks", alphabet)
    batch = with_noisy_labels(BatchedTasks(CONFIG, machine(), 3), text or f"{__name__}:looks")
    seeds = environment_seeds(7, 3)
    single = [NoisyLabelsEnv(TaskEnv(GoldMiningEnv(CONFIG), machine()), labels) for _ in seeds]
    assert batch.spec.entries is not None
    first = batch.reset(7)
    shown = [env.reset(seed=seed)[0] for env, seed in zip(single, seeds, strict=True)]
    assert first.tolist() == pytest.approx(np.stack([batch.spec.entries.join(one) for one in shown]))
    for taken in torch.randint(0, 5, (30, 3), generator=torch.Generator().manual_seed(0)):
        stepped = batch.step(taken)
        for index, env in enumerate(single):
            observation, _, terminated, truncated, _ = env.step(int(taken[index]))
            assert env.observation_space.contains(observation)
            assert stepped.final_observation[index].tolist() == pytest.approx(batch.spec.entries.join(observation))
            if terminated or truncated:
                observation, _ = env.reset()
            assert stepped.observation[index].tolist() == pytest.approx(batch.spec.entries.join(observation))


def test_a_saved_batch_goes_on_as_it_would_have() -> None:
    plain, noisy = BatchedTasks(CONFIG, machine(), 4), with_noisy_labels(BatchedTasks(CONFIG, machine(), 4), "0.4")
    plain.reset(3)
    noisy.reset(3)
    actions = torch.randint(0, 5, (60, 4), generator=torch.Generator().manual_seed(1))
    for taken in actions[:30]:
        ours, theirs = noisy.step(taken), plain.step(taken)
        assert torch.equal(ours.reward, theirs.reward)  # the task goes on with true symbols
    other = with_noisy_labels(BatchedTasks(CONFIG, machine(), 4), "0.4")
    other.reset(9)
    other.load_state_dict(noisy.state_dict())
    for taken in actions[30:]:
        assert all(map(torch.equal, noisy.step(taken), other.step(taken)))


def test_detectors_that_give_no_probabilities_are_refused() -> None:
    labels = NoisyLabels.detector(lambda shown: np.full((len(shown), 2), 0.7), AB)
    with pytest.raises(ProbabilityError, match=r"1\.4"):
        labels.says(seen([0, 0]))
    with pytest.raises(ProbabilityError, match=r"\(2,\)"):
        NoisyLabels.detector(lambda shown: np.zeros(len(shown)), AB).says(seen([0, 0]))


def test_wrapping_what_has_no_task_or_is_wrapped_is_refused() -> None:
    labels = NoisyLabels.confused(0.1, CONFIG.alphabet)
    with pytest.raises(EnvError, match="TaskEnv"):
        NoisyLabelsEnv(GoldMiningEnv(), labels)
    once = NoisyLabelsEnv(TaskEnv(GoldMiningEnv(), machine()), labels)
    with pytest.raises(EnvError, match="detected"):
        NoisyLabelsEnv(once, labels)
    with pytest.raises(EnvError, match="over a, b"):
        NoisyLabelsEnv(TaskEnv(GoldMiningEnv(), machine()), NoisyLabels.confused(0.1, AB))


@pytest.mark.parametrize("env", ["gold-mining", "map", "letter"])
def test_runs_take_it_as_one_option(env: str) -> None:
    text = json.dumps({"confusion": 0.2, "persistent": True})
    task = {"gold-mining": None, "map": "F gem", "letter": "F a"}[env]
    run = choose_run(task, env, "independent-belief", settings={"env": {"labels": text}})
    made = run.build_env(3)
    first = made.reset(1)
    assert made.spec.entries is not None
    rows = made.spec.entries.split(first)["detected"]
    assert rows.tolist() == pytest.approx(np.full(rows.shape, 1 / made.machine.alphabet.size))
    found = run.render_env(made.machine, "rgb_array")
    assert isinstance(found.observation_space, spaces.Dict)
    with pytest.raises(ProbabilityError, match="-1"):
        choose_run(task, env, "naive", settings={"env": {"labels": "2"}}).build_env(3)


def test_probes_show_detections_of_the_symbols_that_hold() -> None:
    noisy = with_noisy_labels(MinecraftConfig().build(nrm.compile("F gem", MinecraftConfig().alphabet), 2), "0")
    found = noisy.probe(100)
    assert found is not None
    assert noisy.spec.entries is not None
    said = noisy.spec.entries.split(found.observations)["detected"]
    assert torch.equal(said.argmax(1), found.letters)
