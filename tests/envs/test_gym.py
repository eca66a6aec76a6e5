"""Any environment by its name."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

import nrm
from nrm.envs import TaskEnv, find_env
from nrm.envs.gym import GymConfig, gym_env
from nrm.errors import ConfigError, EnvError, NrmError, NrmWarning, UnknownSymbolError
from tests.envs.own import SYMBOLS, Corridor, holds

OWN = "tests.envs.own:"
MACHINE = nrm.compile("F(mail & F desk)", SYMBOLS)


def own(name: str, **settings: Any) -> GymConfig:
    return GymConfig(OWN + name, **{"label": OWN + "holds", **settings})


def test_it_equals_the_environment_made_by_hand() -> None:
    config = own("Corridor", kwargs={"size": 6, "noise": 0.1}, steps=9)
    env = gym_env(config, MACHINE)
    twin = TaskEnv(gymnasium.wrappers.TimeLimit(Corridor(6, 0.1), 9), MACHINE, holds)
    for seed in range(3):
        assert np.array_equal(env.reset(seed=seed)[0], twin.reset(seed=seed)[0])
        for action in (0, 0, 0, 1, 0, 1, 1, 1, 1):
            one, other = env.step(action), twin.step(action)
            assert np.array_equal(one[0], other[0])
            assert one[1:] == other[1:]
        assert one[3]


@pytest.mark.parametrize(
    ("name", "label"),
    [("Corridor", OWN + "holds"), ("Corridor", "info:event"), ("Speaking", None), ("Speaking", "label")],
)
def test_where_labels_come_from(name: str, label: str | None) -> None:
    env = gym_env(GymConfig(OWN + name, label=label), MACHINE)
    env.reset(seed=0)
    assert [env.step(0)[4]["label"] for _ in range(3)] == ["floor", "mail", "mail"]


def test_environments_in_processes_of_their_own() -> None:
    here, there = own("Corridor").build(MACHINE, 2), own("Corridor", processes=True).build(MACHINE, 2)
    try:
        assert torch.equal(here.reset(0), there.reset(0))
        for action in (0, 1, 0, 0):
            actions = torch.full((2,), action)
            assert all(map(torch.equal, here.step(actions), there.step(actions)))
    finally:
        there.close()


def test_names_find_their_kind_and_configuration() -> None:
    config = find_env("gym:CartPole-v1")
    assert (config, config.title()) == (GymConfig("gym:CartPole-v1"), "gym:CartPole-v1")
    assert find_env(OWN + "Corridor") == GymConfig(OWN + "Corridor")
    assert find_env("gym:minigrid:MiniGrid-Empty-5x5-v0").source == "gym:minigrid:MiniGrid-Empty-5x5-v0"


def test_registered_environments_step() -> None:
    config = GymConfig("gym:CartPole-v1", label="tests.envs.test_gym:side", symbols=("left", "right"))
    env = config.build(nrm.compile("F right", ("left", "right")), 2)
    assert (env.shape, env.actions, env.unrepeatable) == ((4,), 2, "")
    env.reset(0)
    paid = sum(env.step(torch.ones(2, dtype=torch.int64)).reward for _ in range(60))
    assert bool((torch.as_tensor(paid) >= 100).all())


def side(observation: Any, info: dict[str, Any], env: Any) -> str:
    return "right" if observation[0] > 0.05 else "left"


@pytest.mark.parametrize(
    ("config", "text", "symbols", "exclusive"),
    [
        (own("Corridor", symbols=SYMBOLS), "F desk", SYMBOLS, True),
        (own("Corridor", propositions=("desk", "mail")), "F desk", ("desk", "mail"), False),
        (own("Speaking"), "F desk", SYMBOLS, True),
        (own("Corridor"), "F desk & F mail", ("desk", "mail"), False),
        (own("Corridor", symbols=SYMBOLS), "visit-2", SYMBOLS, True),
    ],
)
def test_what_can_hold(config: GymConfig, text: str, symbols: tuple[str, ...], exclusive: bool) -> None:
    task = config.task(text)
    assert (task.alphabet.symbols, task.alphabet.is_exclusive) == (symbols, exclusive)


def test_an_environment_with_a_task_of_its_own() -> None:
    config = find_env(OWN + "with_task")
    task = config.task(None)
    assert task.machine() == MACHINE
    env = config.build(task.machine(), 2, "outcome")
    assert env.machine == MACHINE
    with pytest.raises(EnvError, match="--task"):
        config.build(nrm.compile("F desk", SYMBOLS), 2, "outcome")
    with pytest.raises(EnvError, match="add --end outcome"):
        config.build(MACHINE, 2, "limit")
    with pytest.raises(EnvError, match=r"labelling function.*--env\.label x:y"):
        GymConfig(config.source, label="x:y").build(MACHINE, 2, "outcome")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gym:CartPol-v1", r"no environment 'CartPol-v1'; did you mean 'CartPole-v1'\?; if a package brings it"),
        ("gym:no_such_package:It-v0", "'gym:no_such_package:It-v0' cannot be found: there is no module"),
        ("CartPole-v1", r"unknown environment 'CartPole-v1'; did you mean 'gym:CartPole-v1'\?"),
        ("gim:CartPole-v1", r"did you mean 'gym'\?"),
        ("no_such_module:make", "there is no module 'no_such_module' here"),
        ("tests/envs/own.py:Corridor", "names a file; write the module without its ending"),
        (OWN + "Coridor", r"has no 'Coridor'; did you mean 'Corridor'\?"),
    ],
)
def test_names_that_lead_nowhere(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_env(name)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (own("failing"), r"own:failing failed: RuntimeError: the simulator is not running \(.*own.py, line \d+\)"),
        (own("Corridor", kwargs={"size": "red"}), r"Corridor failed with size='red': TypeError"),
        (
            own("Corridor", kwargs={"sise": 4}),
            r"unknown argument 'sise'; did you mean 'size'\? \(arguments: size, noise",
        ),
        (own("failing", kwargs={"size": 4}), r"'size' is given, but it takes no arguments"),
        (own("Corridor", label=OWN + "npp"), r"has no 'npp'$"),
        (own("no_environment"), r"gave int, not a gymnasium\.Env"),
        (own("ENV"), "is one environment, but several are needed"),
        (own("NUMBER"), "is 3; name a gymnasium.Env"),
        (own("Old"), r"Old, step 1 of episode 1: step\(\) must return .*the old gym"),
        (own("Breaks"), r"own:Breaks, step 3 of episode 1, action \d: ZeroDivisionError: no more steps"),
        (own("WrongShape"), r"WrongShape, step 1 of episode 1: the observation has shape \(2,\), but"),
        (own("NotANumber"), "NotANumber, step 1 of episode 1: the reward .* nan"),
        (own("NothingAtFirst"), r"the first observation is not finite: \[nan\]"),
        (own("Pieces"), r"not Tuple.*gymnasium\.wrappers\.FlattenObservation"),
        (own("Corridor", label=OWN + "wrong_label"), "'zebra' at step 1 of"),
        (own("Corridor", label=OWN + "failing_label"), r"step 1 of episode 1, .*: KeyError: 'nothing' \(.*own.py"),
        (own("Corridor", label=OWN + "one_argument"), r"must take three arguments"),
        (own("Corridor", label=OWN + "NUMBER"), "label is 3"),
        (own("Corridor", label="info:evnt"), r"info has no 'evnt' \(it has event\); did you mean 'event'"),
        (own("Corridor", label=None), r"has no labelling function.*--env.label module:name"),
    ],
)
def test_environments_that_break_the_rules(config: GymConfig, message: str) -> None:
    with pytest.raises(NrmError, match=message):
        config.build(MACHINE, 2)


def test_nothing_holds_where_no_symbol_says_so() -> None:
    two = nrm.compile("F(mail & F desk)", ("mail", "desk"))
    with pytest.raises(UnknownSymbolError, match="'floor' at step 1"):
        own("Corridor").build(two, 1)


@pytest.mark.parametrize("name", ["Unseeded", "Leaking", "Warming"])
def test_environments_that_no_seed_repeats(name: str) -> None:
    env = own(name).build(MACHINE, 2)
    assert env.unrepeatable == "the first observation"
    env.reset(0)
    env.step(torch.zeros(2, dtype=torch.int64))
    saved = env.state_dict()
    again = own(name).build(MACHINE, 2)
    again.load_state_dict(saved)
    with pytest.raises(EnvError, match="seed"):
        again.step(torch.zeros(2, dtype=torch.int64))
    again.reset(0)
    again.step(torch.zeros(2, dtype=torch.int64))


def test_observations_outside_of_their_space_are_told() -> None:
    with pytest.warns(NrmWarning, match=r"observation_space Box.*: 10\d"):
        own("Outside").build(MACHINE, 1)
    with pytest.warns(NrmWarning, match=r"step 3.*observation_space Box.*: 10\d") as told:
        own("OutsideLater").build(MACHINE, 1)
    assert sum("outside" in str(one.message) for one in told) == 1


@pytest.mark.parametrize("name", ["Endless", "endless_with_task"])
def test_episodes_without_an_end_are_cut_off(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("nrm.envs.gym.config.MAX_STEPS", 5)
    env = gym_env(own(name, label=OWN + "holds" if name == "Endless" else None), MACHINE)
    for seed in range(2):
        env.reset(seed=seed)
        with pytest.warns(NrmWarning, match=r"TimeLimit.*5 steps.*--env\.steps"):
            ends = [env.step(0)[2:4] for _ in range(5)]
        assert ends == [(False, False)] * 4 + [(False, True)]


@pytest.mark.parametrize("config", [own("Endless", steps=7), own("limited", kwargs={"steps": 7})])
def test_a_limit_that_somebody_set_is_the_limit(monkeypatch: pytest.MonkeyPatch, config: GymConfig) -> None:
    monkeypatch.setattr("nrm.envs.gym.config.MAX_STEPS", 5)
    env = gym_env(config, MACHINE)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(7)] == [False] * 6 + [True]


def test_an_environment_that_ends_by_itself_is_left_alone(recwarn: pytest.WarningsRecorder) -> None:
    env = gym_env(own("Corridor"), MACHINE)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(30)] == [False] * 29 + [True]
    assert not [one for one in recwarn if issubclass(one.category, NrmWarning)]


def test_a_task_on_a_task_is_refused() -> None:
    inner = TaskEnv(Corridor(), MACHINE, holds)
    with pytest.raises(EnvError, match=r"task.*3 states"):
        TaskEnv(gymnasium.wrappers.TimeLimit(inner, 5), MACHINE, holds)
