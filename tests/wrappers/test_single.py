"""The wrapper of one environment."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation

import nrm
from nrm.envs import MINECRAFT_SYMBOLS
from nrm.errors import EnvError, MachineError
from nrm.machines import LevelCodec, MooreMachine
from nrm.neural import EpisodeBuffer, FitConfig, NeuralRewardMachine, fit
from nrm.wrappers import NeuralRewardMachineWrapper, model_for
from nrm.wrappers.models import Augmentation
from tests.wrappers.envs import TASK, Broken, InDict, Silent, task_env, untrained

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS: dict[str, NeuralRewardMachine | MooreMachine] = {"nrm": untrained(), "rm": TASK}


def walk(
    env: gymnasium.Env[Any, Any], seed: int, steps: int = 12
) -> tuple[list[Any], list[float], list[dict[str, Any]]]:
    """One episode of random moves: observations with the first one, rewards and infos."""
    generator = np.random.default_rng(seed)
    seen, paid, infos = [env.reset(seed=seed)[0]], [], []
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(int(generator.integers(4)))
        seen.append(observation)
        paid.append(float(reward))
        infos.append(info)
        if terminated or truncated:
            break
    return seen, paid, infos


@pytest.mark.parametrize("belief", ["open-loop", "filtered"])
def test_beliefs_are_those_of_the_model(belief: Any) -> None:
    """Against the recursions of the model on whole episodes, which share no code with the wrapper's steps."""
    model = untrained(1)
    env = NeuralRewardMachineWrapper(Silent(task_env()), model, belief=belief)
    for seed in range(6):
        seen, paid, _ = walk(env, seed)
        rows = torch.tensor(np.array([row["observation"] for row in seen[1:]]))[None]
        if belief == "open-loop":
            expected = model(rows).states[0]
        else:
            levels = LevelCodec.of(TASK).encode(paid)
            expected = model.filter(rows, torch.tensor(levels)[None]).states[0]
        assert seen[0]["belief"].tolist() == np.eye(TASK.states)[TASK.initial].tolist()
        got = np.array([row["belief"] for row in seen[1:]])
        assert got == pytest.approx(expected.detach().numpy(), abs=1e-5)


def test_a_reward_machine_believes_the_true_state() -> None:
    env = NeuralRewardMachineWrapper(task_env(), TASK)
    for seed in range(6):
        seen, _, infos = walk(env, seed)
        assert [int(row["belief"].argmax()) for row in seen[1:]] == [info["machine_state"] for info in infos]
        assert all(row["belief"].sum() == 1 for row in seen)


def test_rm_and_nrm_have_one_shape() -> None:
    spaces_ = [NeuralRewardMachineWrapper(task_env(), model).observation_space for model in MODELS.values()]
    assert spaces_[0] == spaces_[1]
    with pytest.raises(EnvError, match=r"info\['machine_state'\].*nrm\.TaskEnv.*NeuralRewardMachine"):
        walk(NeuralRewardMachineWrapper(Silent(task_env()), TASK), 0)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("stack", ["dict", "image", "merged", "custom"])
def test_gymnasium_and_stable_baselines_approve(kind: str, stack: str) -> None:
    sb3_check = pytest.importorskip("stable_baselines3.common.env_checker").check_env
    inner: gymnasium.Env[Any, Any] = task_env(observation="image", pixels=16) if stack == "image" else task_env()
    if stack == "merged":
        inner = InDict(inner)
    if stack == "custom":
        inner = runpy.run_path(str(EXAMPLES / "custom_environment.py"))["make"]()
    reads = "place" if stack == "merged" else None
    task = inner.get_wrapper_attr("machine")
    model = task if kind == "rm" else model_for(inner.observation_space, task, reads=reads)
    env = NeuralRewardMachineWrapper(inner, model, reads=reads)
    with pytest.warns(UserWarning, match="is different from the unwrapped version"):
        check_env(env, skip_render_check=True)
    if stack == "image":
        with pytest.warns(UserWarning, match="minimal resolution for an image is 36x36"):
            sb3_check(env)
    else:
        sb3_check(env)


def test_layouts() -> None:
    flat = FlattenObservation(NeuralRewardMachineWrapper(task_env(), TASK))
    assert flat.observation_space.shape == (2 + TASK.states,)
    assert flat.reset(seed=0)[0].tolist() == [*np.eye(TASK.states)[0], 0, 0]
    merged = NeuralRewardMachineWrapper(InDict(task_env()), TASK, reads="place")
    assert set(merged.observation_space) == {"place", "clock", "belief"}  # type: ignore[call-overload]
    assert set(merged.reset(seed=0)[0]) == {"place", "clock", "belief"}


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        (spaces.Text(5), {}, r"Text\(.*cannot be read|cannot be read.*Text\("),
        (spaces.Tuple([spaces.Discrete(2)]), {}, r"cannot be read by a grounder: Tuple\(Discrete\(2\)\)"),
        (spaces.Dict(a=spaces.Discrete(2), b=spaces.Text(5)), {}, r"the entry 'b' .*Text\("),
        (spaces.Dict(a=spaces.Discrete(2)), {"reads": "aa"}, "no entry 'aa'; did you mean 'a'|no entry 'aa' "),
        (spaces.Dict(a=spaces.Text(5)), {}, r"the entry 'a' of observations cannot be read"),
        (spaces.Dict(belief=spaces.Discrete(2)), {}, "have an entry 'belief' already"),
        (spaces.Discrete(3), {"reads": "a"}, "names entries of Dict observations"),
    ],
)
def test_spaces_that_cannot_be_augmented(space: spaces.Space[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(EnvError, match=message):
        Augmentation.of(space, 3, **options)


def test_misuse_is_named() -> None:
    with pytest.raises(EnvError, match="unknown belief 'opne'"):
        NeuralRewardMachineWrapper(task_env(), untrained(), belief="opne")  # type: ignore[arg-type]
    with pytest.raises(EnvError, match="is not the environment's"):
        NeuralRewardMachineWrapper(task_env(), "F a")
    with pytest.raises(MachineError, match="task"):
        NeuralRewardMachineWrapper(task_env(), 3)  # type: ignore[arg-type]
    with pytest.raises(EnvError, match=r"call reset\(\) before"):
        NeuralRewardMachineWrapper(task_env(), TASK).step(0)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_observations_that_are_no_numbers_are_refused(value: float, told: bool) -> None:
    model = TASK if told else untrained()
    env = NeuralRewardMachineWrapper(Broken(task_env(), value, 4), model)
    env.reset(seed=0)
    env.step(0)
    env.step(0)
    with pytest.raises(EnvError, match=f"environment 0 shows {value} in its observation at step 3 of its episode"):
        env.step(0)
    broken = NeuralRewardMachineWrapper(Broken(task_env(), value, 1), model)
    with pytest.raises(EnvError, match=f"environment 0 shows {value} .* at the beginning of its episode"):
        broken.reset(seed=0)


def test_an_episode_that_is_over_must_be_begun_anew() -> None:
    env = NeuralRewardMachineWrapper(task_env(steps=1), untrained())
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(EnvError, match="after an episode has ended"):
        env.step(0)
    assert len(env.tracker.take()) == 1


def test_a_model_for_other_observations_is_refused_at_once() -> None:
    with pytest.raises(EnvError, match=r"Box.*64, 64, 3"):
        NeuralRewardMachineWrapper(task_env(observation="image"), untrained())
    own = NeuralRewardMachine(torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.Softmax(-1)), TASK)
    with pytest.raises(EnvError, match=r"model_for\(observation_space, machine\)"):
        NeuralRewardMachineWrapper(task_env(), own)


def test_rewards_that_are_not_the_tasks_are_named() -> None:
    scaled = gymnasium.wrappers.TransformReward(task_env(), lambda reward: 0.01 * float(reward) + 0.3)
    env = NeuralRewardMachineWrapper(scaled, untrained())
    env.reset(seed=0)
    with pytest.raises(EnvError, match="environment 0 paid"):
        env.step(0)


def test_recorded_episodes_hold_what_each_reward_was_paid_for() -> None:
    env = NeuralRewardMachineWrapper(Silent(task_env()), untrained())
    walked = [walk(env, seed) for seed in range(4)]
    episodes = env.tracker.take()
    assert env.tracker.take() == []
    assert len(episodes) == 4
    for (seen, paid, _), episode in zip(walked, episodes, strict=True):
        assert (episode.observations == [row["observation"] for row in seen[1:]]).all()
        assert episode.rewards.tolist() == paid
        assert episode.letters is None


def test_an_episode_that_is_left_early_is_kept_too() -> None:
    env = NeuralRewardMachineWrapper(Silent(task_env()), untrained())
    env.reset(seed=0)
    env.step(1)
    env.step(1)
    env.reset()
    env.step(2)
    assert [len(episode.rewards) for episode in env.tracker.take()] == [2]


def test_learning_from_recorded_episodes_and_believing_anew() -> None:
    model = untrained(3)
    env = NeuralRewardMachineWrapper(Silent(task_env(steps=30)), model, belief="open-loop")
    for seed in range(40):
        walk(env, seed, 30)
    buffer = EpisodeBuffer.for_machine(TASK)
    for episode in env.tracker.take():
        buffer.add(episode.observations, rewards=episode.rewards)
    # In the middle of an episode the grounder learns; what was believed before is computed anew.
    seen, _, _ = walk(env, 1, steps=5)
    fit(model, buffer, config=FitConfig(epochs=40, restarts=1))
    env.tracker.refresh()
    assert np.abs(env.belief - seen[-1]["belief"]).max() > 0.01
    fresh = NeuralRewardMachineWrapper(Silent(task_env(steps=30)), model, belief="open-loop")
    again = walk(fresh, 1, steps=5)[0][-1]["belief"]
    assert env.belief == pytest.approx(again, abs=1e-6)


def test_it_can_be_made_again_from_its_spec() -> None:
    model = untrained()
    inner = nrm.TaskEnv(gymnasium.make("nrm/Minecraft-v0", steps=9), TASK)
    env = NeuralRewardMachineWrapper(inner, model, belief="argmax")
    assert env.spec is not None
    again = gymnasium.make(env.spec)
    assert again.observation_space == env.observation_space
    assert again.get_wrapper_attr("model") is model


def test_a_fitting_model() -> None:
    image = task_env(observation="image", pixels=16).observation_space
    model = model_for(image, TASK, seed=1)
    assert model.ground(torch.zeros(2, 16, 16, 3, dtype=torch.uint8)).shape == (2, len(MINECRAFT_SYMBOLS))
    same, other = (
        torch.equal(next(iter(model_for(image, TASK, seed=seed).parameters())), next(iter(model.parameters())))
        for seed in (1, 2)
    )
    assert same
    assert not other
    propositional = nrm.compile("F a & F b", propositions="a b")
    assert model_for(spaces.Discrete(4), propositional, emission="independent").distribution.outputs == 2
    assert model_for(spaces.Discrete(4), propositional).distribution.outputs == 4
