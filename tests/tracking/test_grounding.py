"""Grounding in a loop of one's own: learning when due, decisions with reasons, and impossible episodes."""

from __future__ import annotations

import numpy as np
import pytest

import nrm
from nrm.envs import PlaneEnv
from nrm.errors import ConfigError, ContradictionError, EnvError
from nrm.neural import FitConfig
from nrm.tracking import Grounding, GroundingConfig, GroundingUpdate, Tracker
from nrm.wrappers import NeuralRewardMachineWrapper
from tests.envs.plane import planes
from tests.wrappers.envs import TASK, task_env, untrained

ENV = planes.plane(discs=("a@-0.5,0,0.4", "b@0.5,0,0.4"), step=0.3, steps=15)


def plane(formula: str, paid: str | None = None) -> NeuralRewardMachineWrapper:
    """A wrapped plane whose environment pays for `paid`, or for the formula itself."""
    machine = nrm.compile(formula, ENV.alphabet.symbols)
    env = nrm.TaskEnv(PlaneEnv(ENV), nrm.compile(paid or formula, ENV.alphabet.symbols))
    return NeuralRewardMachineWrapper(env, nrm.model_for(env.observation_space, machine))


def play(env: NeuralRewardMachineWrapper, grounding: Grounding, episodes: int) -> list[GroundingUpdate | None]:
    found = []
    draw = np.random.default_rng(0)
    for episode in range(episodes):
        env.reset(seed=episode)
        over = False
        while not over:
            *_, terminated, truncated, _ = env.step(int(draw.integers(8)))
            over = terminated or truncated
        found.append(grounding.add(env.tracker.take()))
    return found


def test_one_call_after_every_episode_learns_and_then_leaves_it_at_that() -> None:
    env = plane("F(a & F b)")
    settings = GroundingConfig(target=0.02).fit_config(0)
    grounding = Grounding.of(env.tracker, every=60, config=settings)
    found = [update for update in play(env, grounding, 300) if update is not None]
    assert len(found) == 5
    assert grounding.episodes == 300
    first, last = found[0], found[-1]
    assert first.decision.verdict == "learn"
    assert first.record is not None
    assert last.loss < first.loss / 5
    assert "loss" in last.decision.reason
    assert grounding.updates < 5


def test_episodes_that_no_grounder_can_explain_are_named_at_once() -> None:
    """The environment pays 100 for the first a; the machine knows a potential of 50 before that."""
    env = plane("F(a & F b)", paid="F a")
    grounding = Grounding.of(env.tracker, every=10)
    with pytest.raises(ContradictionError, match=r"potential 100.*0, 50") as caught:
        play(env, grounding, 10)
    assert grounding.updates == 0
    place = _first_reward(10)
    assert (caught.value.episode, caught.value.step) == place
    assert f"episode {place[0]} since acting began, step {place[1]} of it" in str(caught.value)


def _first_reward(episodes: int) -> tuple[int, int]:
    """By a loop of its own: the earliest step at which an episode pays, and the first such episode."""
    env, draw, paid = plane("F(a & F b)", paid="F a").env, np.random.default_rng(0), []
    for episode in range(episodes):
        env.reset(seed=episode)
        over, step = False, 0
        while not over:
            _, reward, terminated, truncated, _ = env.step(int(draw.integers(8)))
            step += 1
            over = terminated or truncated
            if reward:
                paid.append((step, episode + 1))
    step, episode = min(paid)
    return episode, step


def test_a_saved_state_counts_on() -> None:
    env = plane("F(a & F b)")
    grounding = Grounding.of(env.tracker, every=5, config=FitConfig(epochs=40, restarts=1))
    play(env, grounding, 12)
    again = Grounding.of(plane("F(a & F b)").tracker, every=5)
    again.load_state_dict(grounding.state_dict())
    assert (again.episodes, again.updates) == (10, grounding.updates)


def test_misuse_is_named() -> None:
    env = task_env()
    with pytest.raises(ConfigError, match="MooreMachine"):
        Grounding.of(NeuralRewardMachineWrapper(env, TASK).tracker)
    wrapped = NeuralRewardMachineWrapper(env, untrained())
    with pytest.raises(ConfigError, match=r"every .*not 0"):
        Grounding.of(wrapped.tracker, every=0)
    with pytest.raises(ConfigError, match="must be a FitConfig"):
        Grounding.of(wrapped.tracker, config=3)  # type: ignore[arg-type]
    silent = NeuralRewardMachineWrapper(env, untrained(), record=False)
    with pytest.raises(EnvError, match="record=True"):
        Grounding.of(silent.tracker)


def test_a_machine_of_thousands_of_states_is_tracked_and_learned_from() -> None:
    states = 2000
    columns = np.stack([np.minimum(np.arange(states) + 1, states - 1), np.arange(states)], axis=1)
    accepting = np.arange(states) == states - 1
    alphabet = nrm.Alphabet.exclusive(ENV.alphabet.symbols)
    machine = nrm.MooreMachine(alphabet, np.array([0, 0, 1]), columns, accepting, 100.0 * accepting)
    env = nrm.TaskEnv(PlaneEnv(ENV), machine)
    wrapped = NeuralRewardMachineWrapper(env, nrm.model_for(env.observation_space, machine))
    grounding = Grounding.of(wrapped.tracker, every=9)
    play(wrapped, grounding, 9)
    assert grounding.episodes == 9
    assert Tracker(wrapped.model, 200).beliefs.shape == (200, states)
