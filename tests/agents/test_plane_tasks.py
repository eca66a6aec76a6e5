"""Many tasks in the plane: what is chosen by itself, equal seeds, exact resume, and a grounder that comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from nrm import Alphabet
from nrm.agents import Trainer
from nrm.agents.networks.fourier import FourierNetwork
from nrm.errors import ConfigError, EpisodeError
from nrm.machines import TaskSet
from nrm.neural import FourierGrounder, NeuralRewardMachine, grounder_for, load_model, save_model
from nrm.runs import choose_run
from nrm.samplers import TaskSetConfig

LETTERS = Alphabet.of_sets(["a", "b"], [(), ["a"], ["a", "b"]])
QUICK: dict[str, Any] = {
    "tasks": {"count": 12},
    "algorithm": {"num_steps": 8, "minibatch_size": 64, "update_epochs": 1},
}


def small_run(method: str, **env: Any) -> Trainer:
    settings = {**QUICK, "env": {"steps": 20, **env}}
    if method == "nrm":
        settings["grounding"] = {"every": 10, "keep": 30, "epochs": 40}
    return choose_run(
        None, "flat", method, 5, tasks="reach-avoid", total_timesteps=1200, num_envs=16, settings=settings
    ).build_trainer()


@pytest.mark.parametrize(("method", "actions"), [("rm", "discrete"), ("nrm", "continuous")])
def test_runs_repeat_and_go_on_as_if_never_stopped(method: str, actions: str) -> None:
    whole = small_run(method, actions=actions)
    assert isinstance(whole.learner.policy, FourierNetwork)
    assert whole.env.machine.alphabet.size == 13
    whole.run()
    again = small_run(method, actions=actions)
    while again.steps < 600:
        again.update()
    resumed = small_run(method, actions=actions)
    resumed.load_state_dict(again.state_dict())
    resumed.run()
    assert resumed.history.returns == whole.history.returns
    for one, other in zip(
        *(made.learner.policy.state_dict().values() for made in (resumed, whole)),  # type: ignore[attr-defined]
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_what_reads_positions_is_chosen_by_itself() -> None:
    assert isinstance(small_run("nrm").model.grounder, FourierGrounder)  # type: ignore[union-attr]
    assert isinstance(grounder_for((2,), 4, continuous=True, many=True), FourierGrounder)
    assert not isinstance(grounder_for((2,), 4, continuous=True), FourierGrounder)


def test_a_grounder_of_positions_comes_back_from_its_file(tmp_path: Path) -> None:
    torch.manual_seed(0)
    pool = TaskSet.of(["F a", "F(b & F a)"], LETTERS)
    model = NeuralRewardMachine(FourierGrounder(2, 3, hidden=(8,), waves=4), pool).eval()
    seen = torch.randn(5, 2)
    said = model.ground(seen)
    torch.testing.assert_close(said.sum(-1), torch.ones(5))
    back = load_model(save_model(tmp_path / "model.pt", model))
    torch.testing.assert_close(back.ground(seen), said, rtol=0, atol=0)
    with pytest.raises(EpisodeError, match=r"2 numbers.*\(3,\)"):
        model.ground(torch.randn(5, 3))


def test_training_cuts_off_what_is_stuck_and_tests_do_not() -> None:
    settings = {**QUICK, "tasks": {"count": 4, "training_horizon": 7}}
    config = choose_run(
        None, "flat", "rm", 5, tasks="reach-avoid", total_timesteps=1200, num_envs=16, settings=settings
    )
    trainer = config.build_trainer()
    for _ in range(4):
        trainer.update()
    assert max(trainer.history.lengths) == 7
    assert config.build_env(2).config.steps == 500  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"tasks.training_horizon.*0"):
        TaskSetConfig(training_horizon=0)


def test_settings_of_the_plane_are_chosen_by_themselves() -> None:
    config = choose_run(None, "flat", "nrm", tasks="mixture", total_timesteps=1000)
    assert config.settings["tasks"].training_horizon == 40
    assert "mid-resettable" in config.settings["family"].families
    assert config.settings["grounding"].maximisation == "evidence"
    other = choose_run(None, "letter", "nrm", tasks="mixture", total_timesteps=1000)
    assert other.settings["tasks"].training_horizon is None
    assert "mid-resettable" not in other.settings["family"].families
    assert other.settings["grounding"].maximisation == "posterior"
