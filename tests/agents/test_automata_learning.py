"""Learning the machine while acting: it is found, runs resume exactly, and what cannot work says so."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import nrm
from nrm.agents import METHODS, Trainer, evaluate, new_trainer
from nrm.agents.a2c import A2CConfig
from nrm.agents.machine_methods import judge_for, same_task
from nrm.envs import BatchedTasks, MinecraftConfig
from nrm.errors import ConfigError, LimitError
from nrm.inference import Hypothesis
from nrm.machines import TaskSet
from nrm.neural import ObservationTable
from nrm.tracking import (
    HypothesisMemory,
    InferenceConfig,
    MachineLearning,
    ObservedSymbols,
    RecordedEpisode,
    Transition,
    Version,
    found_at,
)
from tests.neural.noisy import episodes as endless_episodes
from tests.neural.noisy import shown as grid

SYMBOLS = ("gem", "lava", "empty")
CORRIDOR = MinecraftConfig(size=(3, 1), items=["gem@0,0", "lava@2,0"], start=(1, 0), steps=12)


def corridor(formula: str = "F(gem & F lava)", count: int = 8) -> BatchedTasks:
    return BatchedTasks(CORRIDOR, nrm.compile(formula, SYMBOLS), count)


def made(method: str, episodes: int = 300, seed: int = 1, env: Any = None, **inference: Any) -> Trainer:
    settings = {"algorithm": A2CConfig(learning_rate=3e-3), "inference": InferenceConfig(**inference)}
    return new_trainer(env or corridor(), method, episodes=episodes, seed=seed, settings=settings)


@pytest.mark.parametrize("method", ["automata-learning", "pure-learning"])
def test_the_machine_is_found_and_the_env_is_solved(method: str) -> None:
    trainer = made(method, 400)
    trainer.run()
    inference = trainer.inference
    assert inference is not None
    assert trainer.history.mean_return() > 90
    assert inference.versions[-1].right
    assert inference.hypothesis.states == 3
    assert (found_at(inference.versions) or 1000) < 100
    tested = evaluate(trainer, corridor(), 8, 5, greedy=True)
    assert tested.mean_return == 100.0
    assert tested.state_accuracy == 1.0
    assert tested.state_accuracy_modulo_shortcuts is None


@pytest.mark.parametrize("method", ["automata-learning", "pure-learning"])
def test_a_run_that_goes_on_ends_as_one_that_was_never_interrupted(method: str) -> None:
    whole = made(method, 200)
    whole.run()
    half = made(method, 200)
    for _ in range(7):
        half.update()
    assert half.inference is not None
    assert half.inference.versions
    saved = torch.load(_as_file(half.state_dict()), weights_only=True)
    resumed = made(method, 200)
    resumed.load_state_dict(saved)
    assert resumed.inference is not None
    assert resumed.inference.state_dict()["counters"] == half.inference.state_dict()["counters"]
    resumed.run()
    assert whole.inference is not None
    assert resumed.history == whole.history
    assert resumed.inference.versions == whole.inference.versions


def _as_file(state: dict[str, Any]) -> Any:
    import io

    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return buffer


def episode(cells: list[int], rewards: list[float]) -> RecordedEpisode:
    return RecordedEpisode(0, sum(rewards), len(cells), np.array(cells), np.array(rewards), None)


def frames() -> torch.Tensor:
    return torch.arange(4, dtype=torch.float32)[:, None]


def test_a_machine_grows_by_refutation_and_states_keep_their_numbers() -> None:
    learning = MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=4))
    assert learning.add([episode([0, 0], [0.0, 0.0])]) is None  # nothing happens, as was believed
    first = learning.add([episode([0, 1], [0.0, 50.0])])
    assert first is not None
    assert first.refuted_by is not None
    assert (first.refuted_by.letters, first.refuted_by.expected, first.refuted_by.shown) == ((0, 1), 0.0, 50.0)
    assert first.numbers == (0, 1)
    # From the second state letter 2 leads to a third one.
    second = learning.add([episode([1, 2], [50.0, 50.0])])
    assert second is not None
    assert second.levels == (0.0, 50.0, 100.0)
    assert second.numbers == (0, 1, 2)
    # What is known already teaches nothing.
    assert learning.add([episode([0, 1, 0, 2], [0.0, 50.0, 0.0, 50.0])]) is None
    assert len(learning.versions) == 2
    assert Version.from_json(second.to_json()) == second
    assert str(learning.hypothesis.certainty()) == "3 transitions seen (1 once), 3 assumed"


def test_the_memory_follows_the_machine_and_believes_rewards_that_it_does_not_say() -> None:
    learning = MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=4))
    learning.add([episode([0, 1, 2], [0.0, 50.0, 50.0])])
    memory = learning.memory
    start = memory.start(3)
    assert start.tolist() == [0, 0, 0]
    unused = torch.zeros(3, dtype=torch.int64)
    # Letter 1 moves; letter 0 does not; letter 3 was never seen to do anything, but is paid like a goal.
    seen = Transition(torch.tensor([1, 0, 3]), None, unused, torch.tensor([50.0, 0.0, 100.0]), None)
    assert memory.read(start, seen).tolist() == [1, 0, 2]
    assert memory.feature(memory.read(start, seen))[0].tolist() == [0.0, 1.0, 0.0, 0.0]
    elsewhere = memory.on(frames().flip(0), nrm.machines.TaskSet.of(["F a"], nrm.Alphabet.exclusive("ab")))
    assert (
        elsewhere.read(start[:1], Transition(torch.tensor([2]), None, unused[:1], torch.tensor([50.0]), None)).item()
        == 1
    )


def test_too_many_states_leave_the_old_machine_with_a_note() -> None:
    learning = MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=2))
    learning.add([episode([1], [50.0])])
    assert learning.add([episode([1, 2], [50.0, 50.0])]) is None
    assert learning.hypothesis.states == 2
    assert "3 different potentials" in learning.note


def test_settled_machines_keep_no_episodes_but_those_that_surprise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nrm.tracking.machine_learning.SETTLED", 10)
    monkeypatch.setattr("nrm.tracking.machine_learning.MAX_KEPT", 6)
    learning = MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=4))
    for _ in range(30):
        learning.add([episode([0, 1], [0.0, 50.0])])
    assert learning.episodes - learning.surprised >= 10
    assert len(learning.state_dict()["telling"]) == 6
    learning.add([episode([2], [50.0])])
    assert not learning.settled
    kept = learning.state_dict()
    assert int(kept["telling"].sum()) == 2  # the first that surprised, and this one
    assert kept["kept"]["letters"].tolist()[-1] == 2


def test_wrong_rewards_do_not_grow_the_machine_for_ever() -> None:
    generator = np.random.default_rng(0)
    grown = {}
    for reward_noise in (0.0, 0.05):
        learning = MachineLearning(ObservedSymbols(frames()), InferenceConfig(max_states=8, reward_noise=reward_noise))
        for _ in range(600):
            cells = generator.integers(4, size=10)
            levels = np.where(np.maximum.accumulate(cells == 1), 50.0, 0.0)
            wrong = generator.random(10) < 0.05
            shown = np.where(wrong, 50.0 - levels, levels)
            try:
                learning.add([episode(cells.tolist(), np.diff(shown, prepend=0.0).tolist())])
            except nrm.errors.ContradictionError:
                break
        grown[reward_noise] = learning.hypothesis.states
    assert grown[0.05] == 2
    assert grown[0.0] != 2


def test_observations_that_nobody_lists_are_letters_as_they_come() -> None:
    letters = ObservedSymbols()
    learning = MachineLearning(letters, InferenceConfig(max_states=4))
    walk = RecordedEpisode(0, 50.0, 2, np.array([[0.5], [1.5]]), np.array([0.0, 50.0]), None)
    learning.add([walk])
    assert len(letters) == 2
    assert letters.name(1) == "(1.5)"
    unused = torch.zeros(2, dtype=torch.int64)
    seen = Transition(torch.tensor([[1.5], [9.0]], dtype=torch.float64), None, unused, torch.tensor([50.0, 0.0]), None)
    assert learning.memory.read(learning.memory.start(2), seen).tolist() == [1, 0]
    again = MachineLearning(ObservedSymbols(), InferenceConfig(max_states=4))
    again.load_state_dict(learning.state_dict())
    assert again.memory.read(again.memory.start(2), seen).tolist() == [1, 0]


def noisy(seed: int, count: int) -> list[RecordedEpisode]:
    """Episodes of which no two observations are alike."""
    walks = endless_episodes("F a & F b", count, seed)
    return [RecordedEpisode(0, float(paid.sum()), len(paid), seen, paid, None) for seen, paid, _ in walks]


def test_observations_without_end_become_symbols_that_a_grounder_reads() -> None:
    torch.set_num_threads(1)
    letters = ObservedSymbols()
    learning = MachineLearning(letters, InferenceConfig(max_states=8))
    learning.add(noisy(0, 20))
    assert (letters.continuous, len(learning.versions)) == (False, 1)
    version = learning.add(noisy(1, 120))
    assert len(letters) == 3
    assert letters.known is not None
    assert version is not None
    assert learning.versions == [version]  # machines over observations that never come again are forgotten
    assert len(version.levels) == 4
    assert (letters.name(0), letters.name(1)) == ("anything else", "symbol 1")
    # Fresh observations of a, then of b, lead to the last potential; what was not paid yet plays no part.
    fresh = np.random.default_rng(5)
    carry, unused = learning.memory.start(1), torch.zeros(1, dtype=torch.int64)
    for letter, paid in ((2, 0.0), (0, 50.0), (0, 0.0), (1, 50.0)):
        seen = torch.from_numpy(grid(np.array([letter]), fresh))
        carry = learning.memory.read(carry, Transition(seen, None, unused, torch.tensor([paid]), None))
    assert learning.memory.values[learning.hypothesis.levels[learning.memory.numbers.tolist().index(int(carry))]] == 100
    again = MachineLearning(ObservedSymbols(), InferenceConfig(max_states=8))
    again.load_state_dict(torch.load(_as_file(learning.state_dict()), weights_only=True))
    later = noisy(2, 30)
    assert learning.add(later) == again.add(later)
    for one, two in zip(noisy(3, 20), noisy(3, 20), strict=True):
        seen = torch.from_numpy(one.observations)
        hint = Transition(seen, None, unused, torch.from_numpy(two.rewards), None)
        assert letters.find(hint).tolist() == again.letters.find(hint).tolist()


def test_endless_observations_with_wrong_rewards_are_refused() -> None:
    learning = MachineLearning(ObservedSymbols(), InferenceConfig(reward_noise=0.05))
    many = np.arange(1100.0)[:, None]
    with pytest.raises(LimitError, match=r"observations.*\b1024\b.*--method automata-learning"):
        learning.add([RecordedEpisode(0, 0.0, 1100, many, np.zeros(1100), None)])


def test_where_nothing_explains_endless_observations_the_machine_stays_blank() -> None:
    learning = MachineLearning(ObservedSymbols(), InferenceConfig())
    many = np.arange(1100.0)[:, None]
    assert learning.add([RecordedEpisode(0, 0.0, 1100, many, np.zeros(1100), None)]) is None
    assert "no symbols were found" in learning.note
    assert learning.hypothesis.states == 1


def test_observations_that_no_kept_episode_holds_are_let_go() -> None:
    letters = ObservedSymbols(table=ObservationTable(np.arange(3000.0)[:, None]))
    assert letters.continuous
    assert letters.compact(np.arange(2999)) is None  # there is nothing to gain
    moved = letters.compact(np.array([5, 7, 7]))
    assert moved is not None
    assert (moved[5], moved[7], moved[6]) == (0, 1, -1)
    assert letters.state_dict()["observations"].tolist() == [[5.0], [7.0]]


def test_settings_and_envs_that_make_no_sense_are_refused() -> None:
    for wrong in (
        {"max_states": 0},
        {"reward_noise": 0.5},
        {"reward_noise": -0.1},
        {"label_noise": 0.6},
        {"label_noise": -0.1},
    ):
        with pytest.raises(ConfigError, match=f"inference.{next(iter(wrong))}"):
            InferenceConfig(**wrong)
    pool = TaskSet.of([nrm.compile("F gem", SYMBOLS), nrm.compile("F lava", SYMBOLS)])
    for method in ("automata-learning", "pure-learning"):
        with pytest.raises(ConfigError, match="--task"):
            made(method, env=BatchedTasks(CORRIDOR, pool, 2))


def test_judging_looks_at_levels_on_all_letters_until_the_end() -> None:
    task = nrm.compile("F(gem & F lava)", SYMBOLS)
    # Observations 0 and 2 are empty, 1 is the gem, 3 is lava.
    meaning, values = np.array([2, 0, 2, 1]), np.array([0.0, 50.0, 100.0])
    table = np.array([[0, 1, 0, 0], [1, 1, 1, 2], [2, 2, 2, 2]])
    blank = np.zeros_like(table)
    right = Hypothesis(table, np.arange(3), blank, np.array([0, 1, 0, 2]))
    assert same_task(task, meaning, right, values)
    wrong = replace(right, table=np.array([[0, 1, 0, 1], [1, 1, 1, 2], [2, 2, 2, 2]]))
    assert not same_task(task, meaning, wrong, values)
    assert not same_task(task, meaning, right, np.array([0.0, 40.0, 100.0]))


def test_symbols_that_were_never_met_count_as_unknown() -> None:
    trainer = made("automata-learning")
    assert trainer.inference is not None
    told = RecordedEpisode(0, 50.0, 2, np.array([1, 0]), np.array([0.0, 50.0]), np.array([2, 0]))
    version = trainer.inference.add([told])
    assert version is not None
    assert version.right is False  # it explains all that was read, but lava was not


def test_methods_say_what_is_unknown() -> None:
    known = {name: method.unknown for name, method in METHODS.items() if method.unknown}
    hidden = {"nrm": "grounding", "hrm-nrm": "grounding", "automata-learning": "machine", "pure-learning": "both"}
    assert known == hidden
    assert isinstance(made("pure-learning").learner.memory, HypothesisMemory)


def test_symbols_that_a_grounder_reads_are_judged_on_drawn_observations() -> None:
    task = nrm.compile("F gem", SYMBOLS)
    config = MinecraftConfig(size=3, items=("gem", "lava"), layout="episode", observation="image", pixels=12)
    env, letters = BatchedTasks(config, task, 2), ObservedSymbols()
    letters.continuous = True
    judge = judge_for(env, letters)
    assert judge is not None
    table = np.array([[0, 1], [1, 1]])
    known = Hypothesis(table, np.array([0, 1]), np.ones_like(table), np.arange(2))
    levels = np.array([0.0, 100.0])
    assert judge(known, levels) is None  # nothing reads symbols yet
    true = env.probe(1000, 0).letters.numpy()
    for read, right in (
        ((true == 0).astype(np.int64), True),  # the gem is symbol 1, all else symbol 0
        ((true == 1).astype(np.int64), False),  # lava is taken for it
        (np.where(np.arange(len(true)) % 10 == 0, 0, true == 0).astype(np.int64), False),  # the gem is often missed
    ):
        letters.known = SimpleNamespace(read=lambda _, said=read: said)  # type: ignore[assignment]
        assert judge(known, levels) is right
