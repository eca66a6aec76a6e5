"""Beliefs of vector environments, in each autoreset mode, against the wrapper of one environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

import nrm
from nrm.envs import MINECRAFT_SYMBOLS
from nrm.errors import EnvError
from nrm.machines import MooreMachine
from nrm.neural import NeuralRewardMachine
from nrm.tracking import RecordedEpisode
from nrm.wrappers import NeuralRewardMachineVectorWrapper, NeuralRewardMachineWrapper
from tests.wrappers.envs import TASK, InDict, Silent, task_env, untrained

COUNT, STEPS = 3, 60
Model = NeuralRewardMachine | MooreMachine


def make(told: bool) -> gymnasium.Env[Any, Any]:
    # Slipping makes every environment's episodes differ, and end at different times.
    env = task_env(steps=9, slip=0.3)
    return env if told else Silent(env)


class Expected:
    """One environment with the single wrapper, reset by hand: what each row must show."""

    def __init__(self, model: Model, seed: int, **options: Any) -> None:
        self.env = NeuralRewardMachineWrapper(make(isinstance(model, MooreMachine)), model, **options)
        self.first = self.env.reset(seed=seed)[0]

    def step(self, action: int) -> tuple[Any, float, bool, Any]:
        """The observation of the step, its reward, whether it was the last one, and the next beginning if so."""
        seen, reward, terminated, truncated, _ = self.env.step(action)
        over = terminated or truncated
        return seen, float(reward), over, self.env.reset()[0] if over else None


def same(got: Any, expected: Any, index: int) -> None:
    """Row `index` of a batch is an observation."""
    if isinstance(expected, dict):
        assert set(got) == set(expected)
        for key, value in expected.items():
            assert got[key][index] == pytest.approx(value, abs=1e-6), key
    else:
        assert got[index] == pytest.approx(expected, abs=1e-6)


def same_episodes(got: list[RecordedEpisode], twins: list[Expected]) -> None:
    expected = [episode for twin in twins for episode in twin.env.tracker.take()]
    assert len(got) == len(expected) > COUNT
    described = [
        sorted((e.observations.tobytes(), e.rewards.tobytes()) for e in episodes) for episodes in (got, expected)
    ]
    assert described[0] == described[1]


@pytest.fixture(params=["nrm", "open", "rm"])
def model_and_options(request: pytest.FixtureRequest) -> tuple[Model, dict[str, Any]]:
    kind = request.param
    options = {"belief": "open-loop"} if kind == "open" else {}
    return TASK if kind == "rm" else untrained(5), options


def stack(model: Model, mode: AutoresetMode, options: dict[str, Any]) -> NeuralRewardMachineVectorWrapper:
    told = isinstance(model, MooreMachine)
    vector = SyncVectorEnv([lambda: make(told)] * COUNT, autoreset_mode=mode)
    return NeuralRewardMachineVectorWrapper(vector, model, **options)


def moves() -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, 4, (STEPS, COUNT))


def test_same_step(model_and_options: tuple[Model, dict[str, Any]]) -> None:
    model, options = model_and_options
    env = stack(model, AutoresetMode.SAME_STEP, options)
    twins = [Expected(model, 7 + index, **options) for index in range(COUNT)]
    got, _ = env.reset(seed=7)
    for index, twin in enumerate(twins):
        same(got, twin.first, index)
    for actions in moves():
        got, rewards, terminated, truncated, info = env.step(actions)
        assert env.observation_space.contains(got)
        for index, twin in enumerate(twins):
            seen, reward, over, begun = twin.step(int(actions[index]))
            assert rewards[index] == reward
            assert (terminated[index] or truncated[index]) == over
            same(got, begun if over else seen, index)
            if over:
                final = info["final_obs"][index]
                same({k: v[None] for k, v in final.items()} if isinstance(final, dict) else final[None], seen, 0)
    if env.tracker.record:
        same_episodes(env.tracker.take(), twins)


def test_next_step(model_and_options: tuple[Model, dict[str, Any]]) -> None:
    model, options = model_and_options
    env = stack(model, AutoresetMode.NEXT_STEP, options)
    twins = [Expected(model, 7 + index, **options) for index in range(COUNT)]
    env.reset(seed=7)
    waiting: list[Any] = [None] * COUNT
    for actions in moves():
        got, rewards, *_ = env.step(actions)
        for index, twin in enumerate(twins):
            if waiting[index] is not None:
                same(got, waiting[index], index)
                assert rewards[index] == 0
                waiting[index] = None
                continue
            seen, _, _, waiting[index] = twin.step(int(actions[index]))
            same(got, seen, index)
    if env.tracker.record:
        same_episodes(env.tracker.take(), twins)


def test_disabled(model_and_options: tuple[Model, dict[str, Any]]) -> None:
    model, options = model_and_options
    env = stack(model, AutoresetMode.DISABLED, options)
    twins = [Expected(model, 7 + index, **options) for index in range(COUNT)]
    env.reset(seed=7)
    for actions in moves():
        got, _, terminated, truncated, _ = env.step(actions)
        done = terminated | truncated
        begins = {}
        for index, twin in enumerate(twins):
            seen, _, over, begun = twin.step(int(actions[index]))
            assert done[index] == over
            same(got, seen, index)
            begins[index] = begun if over else seen
        if done.any():
            got, _ = env.reset(options={"reset_mask": done})
            for index, expected in begins.items():
                same(got, expected, index)
    if env.tracker.record:
        same_episodes(env.tracker.take(), twins)


def test_believing_anew_changes_nothing_when_nothing_was_learned() -> None:
    """Episodes of different lengths are under way, and each is read again from its own beginning."""
    env = stack(untrained(5), AutoresetMode.SAME_STEP, {"belief": "open-loop"})
    env.reset(seed=7)
    for actions in moves():
        got = env.step(actions)[0]["belief"]
        env.tracker.refresh()
        assert env.tracker.beliefs == pytest.approx(got, abs=1e-6)
    assert len(set(env.tracker.recorder.lengths.tolist())) > 1


def test_environments_in_other_processes_and_dict_observations() -> None:
    model = untrained(5)
    envs: list[Any] = [lambda: InDict(make(False))] * 2
    vector = AsyncVectorEnv(envs, autoreset_mode=AutoresetMode.SAME_STEP)
    here = SyncVectorEnv(envs, autoreset_mode=AutoresetMode.SAME_STEP)
    with_belief = [NeuralRewardMachineVectorWrapper(each, model, reads="place") for each in (vector, here)]
    first = [env.reset(seed=3)[0] for env in with_belief]
    assert set(first[0]) == {"place", "clock", "belief"}
    for actions in moves()[:20, :2]:
        there, near = (env.step(actions)[0] for env in with_belief)
        assert (there["belief"] == near["belief"]).all()
    vector.close()


def test_misuse_is_named() -> None:
    vector = SyncVectorEnv([lambda: make(False)])
    with pytest.raises(EnvError, match=r"call reset\(\) before"):
        NeuralRewardMachineVectorWrapper(vector, untrained()).step(np.zeros(1, dtype=np.int64))
    told_nothing = NeuralRewardMachineVectorWrapper(vector, TASK)
    told_nothing.reset(seed=0)
    with pytest.raises(EnvError, match=r"info\['machine_state'\]"):
        told_nothing.step(np.zeros(1, dtype=np.int64))
    vector.metadata = {}
    with pytest.raises(EnvError, match="autoreset_mode"):
        NeuralRewardMachineVectorWrapper(vector, untrained())


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_the_machine_of_another_task_is_refused(kind: Any) -> None:
    other = nrm.compile("F gem & G !lava", MINECRAFT_SYMBOLS)
    with pytest.raises(EnvError, match="is not the environment's"):
        NeuralRewardMachineVectorWrapper(kind([task_env] * 2), other)
