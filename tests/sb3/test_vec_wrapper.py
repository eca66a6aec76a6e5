"""Beliefs of Stable-Baselines3's vectorised environments, the callback around them, and features."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecTransposeImage

import nrm
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftEnv
from nrm.errors import ConfigError, ContradictionError, EnvError, NrmError
from nrm.machines import MooreMachine
from nrm.neural import FitConfig, NeuralRewardMachine
from nrm.sb3 import BeliefExtractor, GroundingCallback, NeuralRewardMachineVecWrapper, counterfactual
from nrm.wrappers import NeuralRewardMachineWrapper
from tests.wrappers.envs import TASK, Broken, Silent, task_env, untrained

COUNT = 3
Model = NeuralRewardMachine | MooreMachine


def make() -> gymnasium.Env[Any, Any]:
    return task_env(steps=9, slip=0.3)


def silent() -> gymnasium.Env[Any, Any]:
    return Silent(make())


@pytest.mark.parametrize("kind", ["nrm", "open", "rm"])
def test_beliefs_are_those_of_the_single_wrapper(kind: str) -> None:
    model: Model = TASK if kind == "rm" else untrained(5)
    options: dict[str, Any] = {"belief": "open-loop"} if kind == "open" else {}
    maker = make if kind == "rm" else silent
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([maker] * COUNT), model, reward_scale=0.01, **options)
    twins = [NeuralRewardMachineWrapper(maker(), model, **options) for _ in range(COUNT)]
    venv.seed(7)
    venv.reset()
    for index, twin in enumerate(twins):
        twin.reset(seed=7 + index)
    ended = 0

    def same(row: Any, wanted: Any) -> None:
        assert row["belief"] == pytest.approx(wanted["belief"], abs=1e-6)
        assert (row["observation"] == wanted["observation"]).all()

    for actions in np.random.default_rng(0).integers(0, 4, (60, COUNT)):
        seen_now, rewards, dones, infos = venv.step(actions)
        got: Any = seen_now
        for index, twin in enumerate(twins):
            seen, reward, terminated, truncated, _ = twin.step(int(actions[index]))
            assert rewards[index] == pytest.approx(float(reward) / 100)
            assert dones[index] == (terminated or truncated)
            if dones[index]:
                same(infos[index]["terminal_observation"], seen)
                seen = twin.reset()[0]
                ended += 1
            same({key: rows[index] for key, rows in got.items()}, seen)
    assert ended > COUNT
    if kind != "rm":
        episodes = venv.tracker.take()
        wanted = [episode for twin in twins for episode in twin.tracker.take()]
        assert sorted(e.observations.tobytes() + e.rewards.tobytes() for e in episodes) == sorted(
            e.observations.tobytes() + e.rewards.tobytes() for e in wanted
        )


def test_failures_cost_little_before_any_success_and_all_of_it_in_tests() -> None:
    losing = nrm.compile("F pickaxe & G !empty", MINECRAFT_SYMBOLS)  # the first step leads to an empty cell, and fails
    for record, cost in ((True, -1.0), (False, -100.0)):
        envs = DummyVecEnv([lambda: nrm.TaskEnv(MinecraftEnv(), losing)])
        venv = NeuralRewardMachineVecWrapper(envs, losing, record=record)
        venv.seed(0)
        venv.reset()
        _, paid, done, _ = venv.step(np.array([0]))
        assert done[0]
        assert paid[0] == pytest.approx(cost)


def test_environments_in_other_processes() -> None:
    model = untrained(5)
    there = NeuralRewardMachineVecWrapper(SubprocVecEnv([silent] * 2, start_method="fork"), model)
    here = NeuralRewardMachineVecWrapper(DummyVecEnv([silent] * 2), model)
    for env in (there, here):
        env.seed(0)
        env.reset()
    for actions in np.random.default_rng(0).integers(0, 4, (20, 2)):
        distant, near = (env.step(actions)[0] for env in (there, here))
        assert isinstance(distant, dict)
        assert isinstance(near, dict)
        assert (distant["belief"] == near["belief"]).all()
    there.close()


def test_a_time_limit_is_bootstrapped_from_what_was_believed_there() -> None:
    """PPO adds the value of the terminal observation at a time limit: it must have its belief, and the right shape."""
    model = untrained(2)
    envs: list[Any] = [lambda: Silent(task_env(steps=2))]
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv(envs), model, belief="open-loop")
    agent = PPO("MultiInputPolicy", venv, n_steps=4, batch_size=4, gamma=0.5, seed=0, device="cpu")
    seen: list[Any] = []
    predict = agent.policy.predict_values

    def noted(observation: Any) -> torch.Tensor:
        seen.append(observation)
        return predict(observation)

    agent.policy.predict_values = noted  # type: ignore[method-assign,assignment]
    agent.learn(4)
    at_limit = [observation["belief"].numpy() for observation in seen[:2]]
    start = np.eye(TASK.states)[TASK.initial]
    assert all(np.abs(belief - start).max() > 0.01 for belief in at_limit)


def image_stack(model: Model, pixels: int = 16) -> NeuralRewardMachineVecWrapper:
    envs = [lambda: task_env(observation="image", pixels=pixels)] * 2
    return NeuralRewardMachineVecWrapper(DummyVecEnv(envs), model)  # type: ignore[arg-type]


def test_features_of_images_and_beliefs() -> None:
    venv = VecTransposeImage(image_stack(untrained(observation="image", pixels=16)))
    assert isinstance(venv.observation_space, spaces.Dict)
    extractor = BeliefExtractor(venv.observation_space, features=20)
    assert extractor.features_dim == 20 + TASK.states
    rows = {"observation": torch.rand(5, 3, 16, 16), "belief": torch.rand(5, TASK.states)}
    features = extractor(rows)
    assert features.shape == (5, extractor.features_dim)
    assert any(torch.equal(features[:, i : i + TASK.states], rows["belief"]) for i in (0, 20))


def test_features_of_numbers_are_scaled_by_their_bounds() -> None:
    space = spaces.Dict(
        place=spaces.Box(*np.array([[0, -2], [3, 2]], dtype=np.float32)),
        free=spaces.Box(-np.inf, np.inf, (1,), np.float32),
        belief=spaces.Box(0, 1, (2,), np.float32),
    )
    rows = {
        "place": torch.tensor([[0.0, 1.0]]),
        "free": torch.tensor([[7.0]]),
        "belief": torch.tensor([[0.25, 0.75]]),
    }
    extractor = BeliefExtractor(space)
    widths = [rows[key].shape[1] for key in extractor.parts]
    by_key = dict(zip(extractor.parts, torch.split(extractor(rows), widths, 1), strict=True))
    assert by_key["place"].tolist() == [[-1.0, 0.5]]
    assert by_key["free"].tolist() == [[7.0]]
    assert by_key["belief"].tolist() == [[0.25, 0.75]]
    with pytest.raises(EnvError, match="an entry 'belief'"):
        BeliefExtractor(spaces.Dict(a=spaces.Discrete(2)))


@pytest.mark.parametrize("algorithm", [PPO, DQN])
def test_images_are_learned_from(algorithm: Any) -> None:
    """The policy sees images with channels first, the grounder as the environment gives them."""
    model = untrained(observation="image", pixels=16)
    venv = image_stack(model)
    options = {"n_steps": 32, "batch_size": 32} if algorithm is PPO else {"learning_starts": 10, "buffer_size": 500}
    kwargs = {"features_extractor_class": BeliefExtractor}
    agent = algorithm("MultiInputPolicy", venv, policy_kwargs=kwargs, device="cpu", **options)
    callback = GroundingCallback(model, every=5, config=FitConfig(epochs=2, restarts=1), task=TASK)
    agent.learn(128, callback=callback)
    assert callback.updates
    assert callback.accuracy is not None


def test_the_callback_logs(tmp_path: Path) -> None:
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    model = untrained()
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([make] * 4), model)
    agent = PPO(
        "MultiInputPolicy", venv, n_steps=32, batch_size=64, device="cpu", seed=0, tensorboard_log=str(tmp_path)
    )
    callback = GroundingCallback(model, every=10, config=FitConfig(epochs=30, restarts=1), task=TASK)
    agent.learn(512, callback=callback)
    events = event_accumulator.EventAccumulator(str(tmp_path / "PPO_1"))
    events.Reload()
    shown = {tag.removeprefix("grounding/") for tag in events.Tags()["scalars"] if tag.startswith("grounding/")}
    assert shown == {
        "loss",
        "explained",
        "updates",
        "checks",
        "episodes",
        "accuracy",
        "balanced_accuracy",
        "accuracy_modulo_shortcuts",
    }
    losses = [event.value for event in events.Scalars("grounding/loss")]
    assert losses[0] == pytest.approx(callback.updates[0].loss)
    assert losses[-1] < losses[0]


def test_letters_are_kept_only_when_asked_for() -> None:
    model = untrained()
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([make]), model)
    venv.reset()
    for _ in range(30):
        venv.step(np.array([1]))
    assert all(episode.letters is None for episode in venv.tracker.take())


def test_a_replay_buffer_forgets_old_beliefs_when_asked_to() -> None:
    sizes = {}
    for forget in (False, True):
        model = untrained()
        venv = NeuralRewardMachineVecWrapper(DummyVecEnv([silent] * 2), model)
        agent = DQN("MultiInputPolicy", venv, learning_starts=10, train_freq=2, device="cpu", seed=0)
        config = FitConfig(epochs=1, restarts=1, target=1e-12)
        agent.learn(200, callback=GroundingCallback(model, every=5, config=config, forget=forget))
        assert agent.replay_buffer is not None
        sizes[forget] = agent.replay_buffer.size()
    assert sizes[True] < sizes[False] == 100


def test_misuse_is_named() -> None:
    model = untrained()
    venv = DummyVecEnv([silent])
    wrapped = NeuralRewardMachineVecWrapper(venv, model)
    with pytest.raises(EnvError, match=r"VecEnv.*Silent"):
        NeuralRewardMachineVecWrapper(silent(), model)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"reward_scale.*\b0$"):
        NeuralRewardMachineVecWrapper(venv, model, reward_scale=0)
    with pytest.raises(ConfigError, match=r"every .*not 0"):
        GroundingCallback(model, every=0)
    plain = PPO("MlpPolicy", venv, n_steps=2, batch_size=2, device="cpu")
    with pytest.raises(EnvError, match="one and the same model"):
        plain.learn(2, callback=GroundingCallback(model))
    agent = PPO("MultiInputPolicy", wrapped, n_steps=2, batch_size=2, device="cpu")
    with pytest.raises(EnvError, match="one and the same model"):
        agent.learn(2, callback=GroundingCallback(untrained()))
    deaf = NeuralRewardMachineVecWrapper(DummyVecEnv([silent]), model, record=False)
    agent = PPO("MultiInputPolicy", deaf, n_steps=2, batch_size=2, device="cpu")
    with pytest.raises(EnvError, match="record=True"):
        agent.learn(2, callback=GroundingCallback(model))


def test_rewards_of_another_task_are_noticed() -> None:
    class Twice(gymnasium.RewardWrapper[Any, Any]):
        def reward(self, reward: Any) -> float:
            return 2 * float(reward) + 1

    model = untrained()
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv([lambda: Twice(silent())]), model)
    agent = PPO("MultiInputPolicy", venv, n_steps=32, batch_size=32, device="cpu")
    with pytest.raises(EnvError, match=r"[Rr]ewards.*task"):
        agent.learn(64, callback=GroundingCallback(model, every=2))


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['stable_baselines3'] = None\nimport nrm.sb3"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "MissingExtraError" in done.stderr
    assert "neural-reward-machines[sb3]" in done.stderr


def test_a_machine_that_is_not_the_environments_is_refused() -> None:
    other = nrm.compile("F(lava & F gem) & G !pickaxe", MINECRAFT_SYMBOLS)
    assert other.states == TASK.states
    venv = DummyVecEnv([task_env] * 2)
    with pytest.raises(EnvError, match="is not the environment's"):
        NeuralRewardMachineVecWrapper(venv, other)
    with pytest.raises(EnvError, match="is not the environment's"):
        counterfactual(NeuralRewardMachineVecWrapper(venv, untrained()), other)
    with pytest.raises(EnvError, match="is not the environment's"):
        NeuralRewardMachineWrapper(task_env(), other)
    with pytest.raises(ConfigError, match=r"config.*FitConfig"):
        GroundingCallback(untrained(), config={"epochs": 2})  # type: ignore[arg-type]


@pytest.mark.parametrize("begins", [12, 11])
def test_observations_that_are_no_numbers_are_refused_with_environment_and_step(begins: int) -> None:
    """Episodes have nine steps, so the eleventh observation is the first one of the second episode."""
    makers = [make, lambda: Broken(task_env(steps=9, start=(3, 2)), np.nan, begins)]
    venv = NeuralRewardMachineVecWrapper(DummyVecEnv(makers), untrained())
    place = "step 1 of its episode" if begins == 12 else "the beginning of its episode"
    venv.seed(0)
    venv.reset()
    for _ in range(begins - 3):
        venv.step(np.array([0, 0]))
    with pytest.raises(EnvError, match=f"environment 1 shows nan in its observation at {place}"):
        venv.step(np.array([0, 0]))


def test_episodes_that_no_grounder_can_explain_end_training_at_once() -> None:
    """The environment pays 100 at once where the machine knows a potential of 50 in between."""
    pays = nrm.compile("F pickaxe", MINECRAFT_SYMBOLS)
    venv = DummyVecEnv([lambda: nrm.TaskEnv(MinecraftEnv(steps=9), pays)] * 4)
    model = nrm.model_for(venv.observation_space, nrm.compile("F(pickaxe & X F gem)", MINECRAFT_SYMBOLS))
    agent = PPO(
        "MultiInputPolicy", NeuralRewardMachineVecWrapper(venv, model), n_steps=64, batch_size=64, device="cpu", seed=0
    )
    callback = GroundingCallback(model, every=10, config=FitConfig(epochs=2, restarts=1))
    with pytest.raises(ContradictionError, match=r"episode \d+.*step \d+.*potential 100.*0, 50") as caught:
        agent.learn(4000, callback=callback)
    assert caught.value.step >= 2
    assert all(update.record is None or update.loss < float("inf") for update in callback.updates)


def test_the_agent_is_paid_with_a_discount_and_grounding_reads_plain_differences() -> None:
    plain, discounted = (
        NeuralRewardMachineVecWrapper(DummyVecEnv([make]), TASK, record=False, gamma=gamma) for gamma in (1.0, 0.5)
    )
    for venv in (plain, discounted):
        venv.seed(3)
        venv.reset()
    potential, episodes = 0.0, 0
    for action in np.random.default_rng(0).integers(0, 4, (60, 1)):
        (_, paid, done, _), (_, found, _, _) = plain.step(action), discounted.step(action)
        assert found == pytest.approx(0.5 * (potential + paid) - potential)
        potential = 0.0 if done[0] else potential + float(paid[0])
        episodes += int(done[0])
    assert episodes > 2


def test_a_discount_is_given_once() -> None:
    model: Model = TASK
    venv = DummyVecEnv([lambda: nrm.TaskEnv(nrm.envs.MinecraftEnv(), TASK, gamma=0.9)])
    with pytest.raises(ConfigError):
        NeuralRewardMachineVecWrapper(venv, model)
    with pytest.raises(NrmError):
        NeuralRewardMachineVecWrapper(DummyVecEnv([make]), model, gamma=2)
