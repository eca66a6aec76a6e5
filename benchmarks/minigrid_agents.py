"""PPO with a reward machine, with a neural one and without, and RecurrentPPO on MiniGrid: built, trained, judged alike.

The neural machine's belief is open loop: it follows the images alone. In these tasks every state has a potential of its
own, so a belief that is conditioned on the rewards received *is* the true state, whatever the grounder says; an agent
with it equals PPO + RM step for step, and comparing the two would say nothing about the grounding.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.wrappers import TransformReward
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from torch import Tensor, nn

from nrm import FitConfig, MooreMachine, NeuralRewardMachine
from nrm.envs.minigrid import minigrid_env, minigrid_task
from nrm.sb3 import GroundingCallback, NeuralRewardMachineVecWrapper
from nrm.tracking import AccuracyMeter, UpdateConfig

Method = Literal["rm", "nrm", "rnn", "ppo"]
METHODS: tuple[Method, ...] = ("rm", "nrm", "rnn", "ppo")
REWARD_SCALE = 0.01


@dataclass(frozen=True)
class Settings:
    """PPO's settings, the same for all methods and environments, and how the grounding learns."""

    num_envs: int = 16
    n_steps: int = 64
    """Steps of each environment between two updates."""
    batch_size: int = 256
    n_epochs: int = 8
    """With 4, one seed of six of PPO + RM on LavaGap settled for a part of the layouts."""
    learning_rate: float = 1e-3
    """At the beginning; it falls evenly to 0, because single updates at a constant rate still break good policies."""
    gamma: float = 0.97
    gae_lambda: float = 0.95
    ent_coef: float = 0.1
    """High: with 0.01, PPO + RM on RedBlueDoors, and with 0.02, RecurrentPPO on LavaGap, ended up doing nothing."""
    width: int = 64
    """Of an image's features, of the hidden layer of actor and critic, and of the LSTM."""
    grounding_every: int = 32
    """Episodes between two grounding updates."""
    grounding_keep: int = 256
    """Most episodes that an update learns from."""
    grounding_epochs: int = 150
    grounding_rate: float = 3e-3
    grounding_restarts: int = 2

    def ppo(self) -> dict[str, Any]:
        """As arguments of PPO and RecurrentPPO."""
        names = ("n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef")
        fixed = {name: getattr(self, name) for name in names}
        return {"learning_rate": lambda left: left * self.learning_rate, **fixed}

    def fit(self, seed: int) -> FitConfig:
        """How one update learns."""
        return UpdateConfig(
            objective="sequence",  # what docs/how-to/minigrid.md reports
            epochs=self.grounding_epochs,
            learning_rate=self.grounding_rate,
            restarts=self.grounding_restarts,
            target=0.003,
            seed=seed,
        )


def tile_layers(depth: int, height: int, width: int, outputs: int, tile: int = 8) -> nn.Sequential:
    """Images (n, depth, height, width) to (n, outputs): a convolution that reads tile by tile, one over neighbours."""
    cells = (height // tile) * (width // tile)
    return nn.Sequential(
        nn.Conv2d(depth, 16, tile, stride=tile),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * cells, outputs),
    )


class TileFeatures(BaseFeaturesExtractor):
    """The features of all three agents: those of the image, and the belief beside them where there is one."""

    def __init__(self, observation_space: spaces.Space[Any], width: int = 64) -> None:
        parts = observation_space.spaces if isinstance(observation_space, spaces.Dict) else {}
        image = parts.get("observation", observation_space)
        belief = int(np.prod(parts["belief"].shape or ())) if parts else 0
        super().__init__(observation_space, width + belief)
        depth, height, across = image.shape or ()
        self.layers = nn.Sequential(tile_layers(depth, height, across, width), nn.ReLU())

    def forward(self, observations: Tensor | dict[str, Tensor]) -> Tensor:
        """(n, features)."""
        if isinstance(observations, Tensor):
            result: Tensor = self.layers(observations)
            return result
        return torch.cat([self.layers(observations["observation"]), observations["belief"]], 1)


class TileGrounder(nn.Module):
    """The same layers as a grounder: images (n, height, width, 3) to letter probabilities (n, letters)."""

    def __init__(self, shape: tuple[int, ...], letters: int) -> None:
        super().__init__()
        height, width, depth = shape
        self.layers = tile_layers(depth, height, width, letters)

    def forward(self, images: Tensor) -> Tensor:
        """(n, letters)."""
        return torch.softmax(self.layers(images.permute(0, 3, 1, 2).float() / 255), -1)


class Curve(BaseCallback):
    """Notes the end of every episode."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[int] = []
        self.successes: list[bool] = []

    def _on_step(self) -> bool:
        for done, info in zip(self.locals["dones"], self.locals["infos"], strict=True):
            if done:
                self.steps.append(self.num_timesteps)
                self.successes.append(bool(info["level"] > 99))
        return True


Model: TypeAlias = NeuralRewardMachine | MooreMachine
"""What a belief comes from: learned from rewards, or told."""


@dataclass(frozen=True)
class Agent:
    """An agent and its task."""

    name: str
    """The environment's id."""
    learner: PPO | RecurrentPPO
    machine: MooreMachine
    model: Model | None
    """None for agents that know no task."""
    callbacks: tuple[BaseCallback, ...]


def num_envs(name: str, machine: MooreMachine, model: Model | None, count: int, record: bool) -> VecEnv:
    """Some environments with the task, and with the belief beside the image; all pay the same."""
    if model is None:
        make = partial(minigrid_env, name, machine)
        return DummyVecEnv([lambda: TransformReward(make(), lambda reward: REWARD_SCALE * float(reward))] * count)
    venv = DummyVecEnv([partial(minigrid_env, name, machine)] * count)
    # Open loop: the potentials of these tasks tell their states, so a belief that reads rewards would need no
    # grounding.
    return NeuralRewardMachineVecWrapper(venv, model, belief="open-loop", reward_scale=REWARD_SCALE, record=record)


def build(name: str, method: Method, seed: int, settings: Settings) -> Agent:
    """An agent at its beginning."""
    machine = minigrid_task(name).machine()
    torch.manual_seed(seed)
    policy: dict[str, Any] = {
        "features_extractor_class": TileFeatures,
        "features_extractor_kwargs": {"width": settings.width},
        "net_arch": [settings.width],
    }
    common: dict[str, Any] = {"seed": seed, "device": "cpu", **settings.ppo()}
    if method in ("rnn", "ppo"):
        venv = num_envs(name, machine, None, settings.num_envs, record=False)
        if method == "ppo":
            return Agent(name, PPO("CnnPolicy", venv, policy_kwargs=policy, **common), machine, None, ())
        lstm = {"lstm_hidden_size": settings.width, "shared_lstm": True, "enable_critic_lstm": False}
        learner = RecurrentPPO("CnnLstmPolicy", venv, policy_kwargs={**policy, **lstm}, **common)
        return Agent(name, learner, machine, None, ())
    model: Model = machine
    callbacks: tuple[BaseCallback, ...] = ()
    if method == "nrm":
        shape = minigrid_env(name, machine).observation_space.shape or ()
        model = NeuralRewardMachine(TileGrounder(shape, machine.alphabet.size), machine)
        callbacks = (
            GroundingCallback(model, settings.grounding_every, settings.fit(seed), keep=settings.grounding_keep),
        )
    venv = num_envs(name, machine, model, settings.num_envs, record=True)
    return Agent(name, PPO("MultiInputPolicy", venv, policy_kwargs=policy, **common), machine, model, callbacks)


def run(name: str, method: Method, seed: int, steps: int, episodes: int, settings: Settings) -> dict[str, Any]:
    """Train an agent and judge it: the curve, what it reached, and what it cost."""
    agent = build(name, method, seed, settings)
    curve = Curve()
    began = time.process_time()
    agent.learner.learn(steps, callback=CallbackList([curve, *agent.callbacks]))
    seconds = time.process_time() - began
    return {
        "environment": name,
        "method": method,
        "seed": seed,
        "steps": steps,
        "settings": asdict(settings),
        "cpu_seconds": round(seconds, 1),
        "ended": curve.steps,
        "successes": [int(success) for success in curve.successes],
        **judge(agent, episodes, seed + 10_000),
    }


def judge(agent: Agent, episodes: int, seed: int, count: int = 16) -> dict[str, Any]:
    """Success of the greedy and of the sampled policy on new episodes, and how well the grounding names what is seen.

    Every environment plays the same number of episodes: the first ones to end would be the short ones.
    """
    share = -(-episodes // count)
    found: dict[str, Any] = {"episodes": share * count}
    for greedy in (True, False):
        venv = num_envs(agent.name, agent.machine, agent.model, count, record=False)
        venv.seed(seed)
        kind = "greedy" if greedy else "sampled"
        played = play(agent, venv, share, greedy)
        found[kind] = float(np.mean(played.successes))
        if isinstance(agent.model, NeuralRewardMachine) and not greedy:
            images, letters = zip(*played.seen.values(), strict=True)
            rows = torch.from_numpy(np.stack(images))
            accuracy = AccuracyMeter(agent.machine).measure(agent.model, rows, torch.tensor(letters))
            assert accuracy is not None
            found |= {"accuracy": accuracy.plain, "accuracy_modulo_shortcuts": accuracy.modulo_shortcuts}
            found["state_accuracy"] = float(np.mean(played.tracked))
    return found


@dataclass
class Played:
    """What episodes showed; grows while they are played."""

    successes: list[bool] = field(default_factory=list)
    seen: dict[bytes, tuple[Any, int]] = field(default_factory=dict)
    """The distinct images with their letters; all images of long episodes would fill the memory."""
    tracked: list[bool] = field(default_factory=list)
    """Whether the most probable state, by the images alone, was the machine's, step by step."""


def play(agent: Agent, venv: VecEnv, share: int, greedy: bool) -> Played:
    """Play `share` episodes in each environment."""
    played, done = Played(), np.zeros(venv.num_envs, dtype=np.int64)
    observation: Any = venv.reset()
    state, begins = None, np.ones(venv.num_envs, dtype=np.bool_)
    neural = isinstance(agent.model, NeuralRewardMachine)
    while (done < share).any():
        action, state = agent.learner.predict(observation, state=state, episode_start=begins, deterministic=greedy)
        observation, _, begins, infos = venv.step(action)
        for index in np.flatnonzero(done < share).tolist():
            info = infos[index]
            if begins[index]:
                played.successes.append(bool(info["level"] > 99))
            if neural:
                seen = info["terminal_observation"] if begins[index] else {k: v[index] for k, v in observation.items()}
                image = seen["observation"]
                played.seen.setdefault(image.tobytes(), (image.copy(), info["letter"]))
                played.tracked.append(int(seen["belief"].argmax()) == info["machine_state"])
        done += begins
    return played
