"""A task on an environment of your own: `python examples/custom_environment.py --out out/custom`.

A robot fetches the mail and brings it to the desk. It sees its position with noise, and learns from rewards alone where
the mail is. Needs the extra [sb3].
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

import nrm
from nrm.sb3 import BeliefExtractor, GroundingCallback, NeuralRewardMachineVecWrapper, model_for

PLACES = ("mail", "desk", "floor")


class Corridor(gymnasium.Env):
    """Ten metres of corridor, the mail at the left end, a desk at the right end; a step is a metre to either side."""

    observation_space = spaces.Box(-2.0, 12.0, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        """Begin in the middle."""
        super().reset(seed=seed)
        self.place, self.time = 5, 0
        return self._look(), {}

    def step(self, action):
        """Move; the task pays, so the environment itself does not."""
        self.place = min(max(self.place + (1 if action else -1), 0), 10)
        self.time += 1
        return self._look(), 0.0, False, self.time >= 40, {}

    def _look(self):
        noise = self.np_random.uniform(-0.4, 0.4)
        return np.array([self.place + noise], dtype=np.float32)


def holds(observation, info, env):
    """What is true after a step. The environment pays by it; the agent is never told."""
    return {0: "mail", 10: "desk"}.get(env.unwrapped.place, "floor")


def make(formula="F(mail & F desk)"):
    """The environment with its task."""
    return nrm.TaskEnv(Corridor(), nrm.compile(formula, PLACES), holds)


def main():
    """Train, and draw what the grounder has learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/custom"))
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--task", default="F(mail & F desk)", help="a formula over mail, desk and floor")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--told", action="store_true", help="tell the agent the machine's true state")
    parser.add_argument("--unscaled", action="store_true", help="give the policy metres as they are")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)

    task = make(options.task).machine
    envs = make_vec_env(lambda: make(options.task), n_envs=8, seed=options.seed)
    torch.manual_seed(options.seed)
    model = model_for(envs.observation_space, task)
    callback = None if options.told else GroundingCallback(model, every=60, verbose=1)
    envs = NeuralRewardMachineVecWrapper(envs, task if options.told else model, reward_scale=0.01)
    # Metres go up to 10 and beliefs up to 1: scaled by their bounds, both count alike.
    scaled = None if options.unscaled else {"features_extractor_class": BeliefExtractor}
    settings = {"n_steps": 64, "batch_size": 128, "gamma": 0.99, "ent_coef": 0.02}
    agent = PPO("MultiInputPolicy", envs, seed=options.seed, device="cpu", policy_kwargs=scaled, **settings)
    agent.learn(options.steps, callback=callback)

    score, _ = evaluate_policy(agent, envs, n_eval_episodes=32, warn=False)
    print(f"mean return {score:.0f} of 100")
    if options.told:
        return
    along = np.linspace(-0.4, 10.4, 200, dtype=np.float32)
    with torch.no_grad():
        symbols = model.ground(torch.from_numpy(along[:, None])).numpy()
    for place, values in zip(PLACES, symbols.T, strict=True):
        plt.plot(along, values, label=place)
    plt.xlabel("where the robot seems to be (m)")
    plt.ylabel("probability of the symbol")
    plt.legend(frameon=False)
    plt.savefig(options.out / "corridor.png", dpi=110)
    print(f"wrote {options.out / 'corridor.png'}")


if __name__ == "__main__":
    main()
