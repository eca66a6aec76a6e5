"""The callback that learns the machine between windows of acting."""

from __future__ import annotations

from stable_baselines3.common.callbacks import BaseCallback

from nrm.errors import EnvError
from nrm.sb3.vec_wrapper import NeuralRewardMachineVecWrapper, find_wrapper
from nrm.tracking import MachineLearning, Version


class MachineCallback(BaseCallback):
    """Learns an unknown machine (`nrm.unknown_machine`) from the episodes that the agent lives through.

    At the end of a rollout the new episodes are held against the machine. Where one refutes it, it is learned anew, its
    states keep the numbers of those that they agree with, and the beliefs of the episodes under way follow. It logs
    `machine/states`, `machine/versions`, `machine/episodes` and `machine/assumed` (transitions that nobody took).
    """

    def __init__(self, model: MachineLearning, verbose: int = 0) -> None:
        """`model`: the one that the environment is wrapped with."""
        super().__init__(verbose)
        if not isinstance(model, MachineLearning):
            raise EnvError(
                f"a machine that is learned is needed, such as nrm.unknown_machine(), not {type(model).__name__}; "
                "GroundingCallback is for known tasks"
            )
        self.learning = model
        self._wrapper: NeuralRewardMachineVecWrapper | None = None

    def _init_callback(self) -> None:
        wrapper = find_wrapper(self.training_env)
        if wrapper is None or wrapper.model is not self.learning:
            raise EnvError(
                "the callback and the environment's wrapper must be given one and the same machine: "
                "NeuralRewardMachineVecWrapper(venv, model)"
            )
        self._wrapper = wrapper

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        """Learn where an episode refutes the machine."""
        assert self._wrapper is not None
        episodes = self._wrapper.tracker.take()
        if not episodes:
            return
        version = self.learning.add(episodes)
        if version is not None:
            self._wrapper.tracker.refresh()
        self._log(version)

    def _log(self, version: Version | None) -> None:
        known = self.learning.hypothesis
        values = {
            "states": known.states,
            "versions": len(self.learning.versions),
            "episodes": self.learning.episodes,
            "assumed": known.certainty().assumed,
        }
        for name, value in values.items():
            self.logger.record(f"machine/{name}", value)
        if version is not None and self.verbose:
            print(f"after {version.episode} episodes: a machine of {known.states} states, {known.certainty()}")
