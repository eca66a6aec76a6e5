"""PPO with a neural reward machine on MiniGrid: `python examples/minigrid_ppo.py --out out/minigrid-ppo`.

The agent sees RGB images. The grounder learns from rewards alone what goal and lava look like.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

import nrm
from nrm.envs.minigrid import minigrid_env, minigrid_task
from nrm.neural import grounder_for
from nrm.sb3 import BeliefExtractor, GroundingCallback, NeuralRewardMachineVecWrapper


def main() -> None:
    """Train, and say what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", default="MiniGrid-LavaGapS5-v0")
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--out", type=Path, default=Path("out/minigrid-ppo"))
    options = parser.parse_args()
    torch.set_num_threads(1)

    machine = minigrid_task(options.environment).machine()  # "F goal & G !lava"
    venv = DummyVecEnv([partial(minigrid_env, options.environment, machine)] * 16)
    grounder = grounder_for(venv.observation_space.shape, machine.alphabet.size)
    model = nrm.NeuralRewardMachine(grounder, machine)
    env = NeuralRewardMachineVecWrapper(venv, model, reward_scale=0.01)

    agent = PPO(
        "MultiInputPolicy",
        env,
        n_steps=64,
        batch_size=256,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=0.97,
        ent_coef=0.1,
        policy_kwargs={
            "features_extractor_class": BeliefExtractor,
            "features_extractor_kwargs": {"features": 64, "channels": (8, 16, 32)},
        },
        seed=0,
    )
    # The task is given to the callback only to tell how well the grounder does; it learns from rewards.
    grounding = GroundingCallback(model, every=32, task=machine, verbose=1)
    agent.learn(options.steps, callback=grounding)
    options.out.mkdir(parents=True, exist_ok=True)
    agent.save(options.out / "agent.zip")
    print(f"wrote {options.out / 'agent.zip'} and {nrm.save_model(options.out / 'model.pt', model)}")
    if grounding.accuracy is not None:
        print(f"grounding accuracy, modulo shortcuts: {grounding.accuracy.modulo_shortcuts:.1%}")


if __name__ == "__main__":
    main()
