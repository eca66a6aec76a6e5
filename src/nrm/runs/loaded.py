"""A trained run in Python: what it learned, its policy, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torch import nn

from nrm.agents import Agent, Evaluation, Policy, Trainer
from nrm.agents import evaluate as evaluate_trainer
from nrm.machines import MachineLike
from nrm.neural import NeuralRewardMachine
from nrm.runs.config import RunConfig
from nrm.runs.folder import find_run, model_of
from nrm.tracking import Belief


@dataclass(frozen=True)
class LoadedRun:
    """A trained run: its configuration, policy, grounder and model."""

    config: RunConfig
    trainer: Trainer
    """The trainer with its weights. To train further, use `RunFolder(path).load()`."""

    @property
    def model(self) -> NeuralRewardMachine:
        """The neural reward machine; an error if the method learns no symbols."""
        return model_of(self.trainer)

    @cached_property
    def policy(self) -> Policy:
        """The policy: `reset()`, then `act(observation)` at each step."""
        return Policy(self.trainer, self.config.task_named)

    @property
    def agent(self) -> Agent:
        """An agent of many tasks, which executes formulas; an error for runs on one task."""
        return Agent(self.trainer)

    @property
    def grounder(self) -> nn.Module:
        """The grounder: observations (n, …) to probabilities (n, symbols)."""
        return self.model.grounder


def load_run(path: Path | str, *, trust: bool = False) -> LoadedRun:
    """Load a trained run from its folder, or a pretrained agent by name: `letter`, `layouts` or `flat`.

    Only the weights that acting needs are read, about a megabyte. `trust`: import the modules that the run names
    (module:name), such as its own environment.
    """
    folder = find_run(path, trust=trust)
    return LoadedRun(folder.config(), folder.load_policy())


def evaluate(
    run: LoadedRun | Path | str,
    *,
    task: MachineLike | None = None,
    episodes: int = 100,
    seed: int = 12345,
    greedy: bool = False,
    belief: Belief | None = None,
) -> Evaluation:
    """Test a trained agent on new episodes.

    Args:
        run: a loaded run, its folder, or the name of a pretrained agent.
        task: agents of many tasks only: the task to execute, also an unseen formula. Default: ten training tasks.
        episodes: number of episodes, over all tasks.
        seed: seed of the test episodes.
        greedy: take the most probable action instead of sampling.
        belief: what the belief reads: no rewards by default, also rewards with `filtered`.

    """
    loaded = run if isinstance(run, LoadedRun) else load_run(run)
    trainer, config = loaded.trainer, loaded.config
    env = config.build_env(min(episodes, config.about.side_by_side), config.about.tested(trainer, config, task))
    return evaluate_trainer(trainer, env, episodes, seed, greedy, belief)
