from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import nrm
from nrm.envs import End, MinecraftEnv, TaskEnv
from nrm.errors import EnvError, MachineError, NrmError, TraceError, UnknownSymbolError
from tests.envs import own
from tests.envs.envs import paper_machine

ABC = ("a", "b", "c")


class Script(gymnasium.Env[NDArray[np.float32], Any]):
    """Says what it is told to say, one thing a step."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, said: list[Any], how: str = "labels", ends: bool = False) -> None:
        self.said, self.how, self.ends = said, how, ends
        if how == "get_events":
            self.get_events = lambda: self.said[self.time - 1]

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.time = 0
        # Not to be read: the machine reads after steps only.
        return np.zeros(1, dtype=np.float32), {"labels": "zebra"}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        self.time += 1
        info = {self.how: self.said[self.time - 1]} if self.how != "get_events" else {}
        last = self.time == len(self.said)
        return np.full(1, 0.5, dtype=np.float32), 7.0, last and self.ends, last and not self.ends, info


def run(env: TaskEnv[Any, Any]) -> list[tuple[float, bool, bool, dict[str, Any]]]:
    env.reset(seed=0)
    steps: list[tuple[float, bool, bool, dict[str, Any]]] = []
    while not steps or not (steps[-1][1] or steps[-1][2]):
        _, reward, terminated, truncated, info = env.step(0)
        steps.append((float(reward), terminated, truncated, info))
    return steps


@pytest.mark.parametrize("number", range(1, 9))
def test_it_pays_what_the_machine_says_on_the_trace(number: int) -> None:
    machine = paper_machine(number)
    generator = np.random.default_rng(number)
    for _ in range(20):
        trace = [str(name) for name in generator.choice(machine.alphabet.symbols, 30)]
        expected = machine.run(trace)
        over = [bool(machine.accepting[state] or machine.dead[state]) for state in expected.states[1:]]
        length = over.index(True) + 1 if True in over else len(trace)
        steps = run(TaskEnv(Script(trace), machine))
        assert [step[0] for step in steps] == list(expected.rewards[:length])
        assert [step[3]["machine_state"] for step in steps] == list(expected.states[1 : length + 1])
        assert [step[3]["label"] for step in steps] == trace[:length]
        assert [step[3]["level"] for step in steps] == list(expected.outputs[1 : length + 1])
        assert steps[-1][1] is (True in over)
        assert all(step[3]["base_reward"] == 7.0 for step in steps)


@pytest.mark.parametrize(
    ("end", "formula", "length"),
    [
        ("outcome", "F a & G !c", 2),
        ("absorbing", "F a & G !c", 4),
        ("limit", "F a & G !c", 6),
        ("absorbing", "G(a -> F b)", 6),
        ("limit", "G(a -> F b)", 6),
    ],
)
def test_when_an_episode_ends(end: End, formula: str, length: int) -> None:
    steps = run(TaskEnv(Script(["b", "a", "b", "c", "a", "b"]), nrm.compile(formula, ABC), end=end))
    assert len(steps) == length
    assert steps[-1][1] is (length < 6)
    assert steps[-1][2] is (length == 6)


def test_the_environments_own_end_counts_under_every_rule() -> None:
    steps = run(TaskEnv(Script(["b", "b"], ends=True), nrm.compile("F a", ABC), end="limit"))
    assert steps[-1][1:3] == (True, False)


@pytest.mark.parametrize(("formula", "end"), [("G !a", "outcome"), ("true", "absorbing")])
def test_a_task_that_is_over_before_it_begins_is_refused(formula: str, end: End) -> None:
    with pytest.raises(EnvError, match="end='limit'"):
        TaskEnv(Script(["a"]), nrm.compile(formula, ABC), end=end)


@pytest.mark.parametrize("end", get_args(End))
def test_a_task_that_cannot_be_satisfied_is_refused(end: End) -> None:
    with pytest.raises(EnvError, match="satisfied"):
        TaskEnv(Script(["a"]), nrm.compile("F(a & b)", ABC), end=end)


@pytest.mark.parametrize("how", ["labels", "propositions", "get_events"])
@pytest.mark.parametrize("named", [True, False])
def test_conventions(how: str, named: bool) -> None:
    machine = nrm.compile("F(a & b) & F c", propositions=ABC)
    said = ["ab", ["c"], {"a": True, "b": False}, (), np.array([True, False, True]), {"b"}, None, "", 3]
    env = TaskEnv(Script(said, how), machine, how if named else None, end="limit")
    assert [step[3]["letter"] for step in run(env)] == [3, 4, 1, 0, 5, 2, 0, 0, 3]


def test_truth_values_and_zeros_and_ones() -> None:
    machine = nrm.compile("F(a & b) & F c", propositions=ABC)
    said = [np.array([1, 0, 1]), np.array([0, 1, 0], dtype=np.uint8), [True, True, False], (0, 0, 1), np.array(6)]
    assert [step[3]["letter"] for step in run(TaskEnv(Script(said), machine, end="limit"))] == [5, 2, 3, 4, 6]
    symbols = nrm.compile("F a", ABC)
    one_hot = run(TaskEnv(Script([np.array([0, 1, 0]), np.array([0, 0, 0])]), symbols, empty="c"))
    assert [step[3]["label"] for step in one_hot] == ["b", "c"]


def test_outputs_that_are_rewards_are_paid_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "loop.txt"
    path.write_text("0\n[]\n(0,0,'!a',-0.5)\n(0,1,'a',ConstantRewardFunction(2))\n(1,0,'True',0)\n")
    machine = nrm.load_machine(path, outputs="rewards")
    said = [(), "a", "a", "a", ()]
    steps = run(TaskEnv(Script(said), machine, end="limit", pay="outputs"))
    assert [step[0] for step in steps] == [-0.5, 2.0, 0.0, 2.0, 0.0]
    with pytest.raises(EnvError, match=r"'output'.*'outputs'"):
        TaskEnv(Script(said), machine, pay="output")  # type: ignore[arg-type]


def test_a_function_sees_observation_info_and_environment() -> None:
    seen = []

    def label(observation: Any, info: dict[str, Any], env: Any) -> str:
        seen.append((observation.tolist(), info["labels"], env.time))
        return "a"

    inner = Script(["x", "y"])
    run(TaskEnv(inner, nrm.compile("F b", ABC), label))
    assert seen == [([0.5], "x", 1), ([0.5], "y", 2)]


def test_nothing_holds_is_a_symbol_in_an_exclusive_alphabet() -> None:
    machine = nrm.compile("F a", ABC)
    assert [step[3]["label"] for step in run(TaskEnv(Script([(), None]), machine, empty="c"))] == ["c", "c"]
    with pytest.raises(UnknownSymbolError, match=r"step 1 of episode 1.*empty="):
        run(TaskEnv(Script([()]), machine))
    with pytest.raises(UnknownSymbolError, match="'d' of empty"):
        TaskEnv(Script([()]), machine, empty="d")


def test_bad_labels_are_named_with_their_step() -> None:
    machine = nrm.compile("F alpha", ("alpha", "beta"))
    with pytest.raises(UnknownSymbolError, match=r"'alhpa'.*step 2 of episode 1.*'alpha'"):
        run(TaskEnv(Script(["beta", "alhpa"]), machine))
    env = TaskEnv(Script(["alhpa"]), machine)
    env.reset()
    env.reset()
    with pytest.raises(UnknownSymbolError, match="step 1 of episode 2"):
        env.step(0)
    with pytest.raises(UnknownSymbolError, match=r"step 1 of episode 1.*\b2\b.*0 to 1"):
        run(TaskEnv(Script([2]), machine))
    with pytest.raises(TraceError, match="2 symbols at step 1"):
        run(TaskEnv(Script([["alpha", "beta"]]), machine))
    for said in (True, 1.5, [1, 2], np.zeros(2)):
        with pytest.raises(EnvError, match=r"(returned .* at|label at|label has .* at) step 1"):
            run(TaskEnv(Script([said]), machine))
    with pytest.raises(EnvError, match=r"\(3,\).*step 1 of episode 1.*2 symbols"):
        run(TaskEnv(Script([np.zeros(3, dtype=bool)]), machine))


def test_misuse_is_named() -> None:
    machine = nrm.compile("F a", ABC)
    with pytest.raises(EnvError, match=r"'labls'.*'labels'"):
        TaskEnv(Script(["a"]), machine, "labls")
    with pytest.raises(EnvError, match=r"get_events\(\)"):
        TaskEnv(Script(["a"]), machine, "get_events")
    with pytest.raises(EnvError, match=r"'propositions'.*labels"):
        run(TaskEnv(Script(["a"]), machine, "propositions"))
    with pytest.raises(EnvError, match="has no labelling function"):
        run(TaskEnv(Script(["a"], how="other"), machine))
    with pytest.raises(EnvError, match=r"'limits'.*'limit'"):
        TaskEnv(Script(["a"]), machine, end="limits")  # type: ignore[arg-type]
    with pytest.raises(MachineError, match="task"):
        TaskEnv(Script(["a"]), 3)  # type: ignore[arg-type]
    with pytest.raises(EnvError, match=r"call reset\(\) before"):
        TaskEnv(Script(["a"]), machine).step(0)


def test_a_task_its_machine_and_its_formula_are_the_same_task() -> None:
    task = nrm.Task(nrm.parse("F a & F b"), nrm.Alphabet.propositional(("a", "b")))
    machines = [TaskEnv(Script(["a"]), given).machine for given in (task, task.machine(), "F a & F b")]
    assert machines[0] == machines[1] == machines[2]


@pytest.mark.parametrize("observation", ["map", "image"])
def test_gymnasium_approves_and_sees_the_same_observations(observation: Any) -> None:
    env = TaskEnv(MinecraftEnv(observation=observation), paper_machine())
    with pytest.warns(UserWarning, match="is different from the unwrapped version"):
        check_env(env, skip_render_check=True)
    plain = MinecraftEnv(observation=observation)
    assert env.observation_space == plain.observation_space
    first, other = env.reset(seed=3)[0], plain.reset(seed=3)[0]
    assert (first == other).all()
    for action in (1, 2, 2):
        assert (env.step(action)[0] == plain.step(action)[0]).all()


def test_it_can_be_made_again_from_its_spec() -> None:
    env = TaskEnv(gymnasium.make("nrm/Minecraft-v0", steps=9), paper_machine(5), end="absorbing")
    assert env.spec is not None
    again = gymnasium.make(env.spec)
    assert again.get_wrapper_attr("machine") == env.machine
    assert again.get_wrapper_attr("end") == "absorbing"


def test_a_label_with_other_arguments_is_refused_at_once() -> None:
    with pytest.raises(EnvError, match="three arguments"):
        nrm.TaskEnv(gymnasium.make("CartPole-v1"), nrm.compile("F a", ["a", "b"]), lambda observation: "a")  # type: ignore[arg-type,misc]


@pytest.mark.parametrize("place", ["inside", "around"])
def test_episodes_are_as_long_as_the_environment_or_a_time_limit_lets_them_be(place: str) -> None:
    task = nrm.compile("F(mail & F desk)", own.SYMBOLS)
    endless = TaskEnv(own.Endless(), task, own.holds)
    endless.reset(seed=0)
    assert not any(any(endless.step(0)[2:4]) for _ in range(1500))
    limited: gymnasium.Env[Any, Any] = TaskEnv(own.limited(20), task, own.holds)
    if place == "around":
        limited = gymnasium.wrappers.TimeLimit(TaskEnv(own.Endless(), task, own.holds), 20)
    limited.reset(seed=0)
    assert [limited.step(0)[3] for _ in range(20)] == [False] * 19 + [True]


def test_a_label_that_says_something_unknown_is_named() -> None:
    def room(observation: object, info: object, env: object) -> str:
        return "kitchen"

    machine = nrm.compile("F a", ABC)
    with pytest.raises(UnknownSymbolError, match="'kitchen' at step 1"):
        run(TaskEnv(Script(["a"]), machine, room))


def test_a_discount_weighs_the_potential_that_a_step_leads_to() -> None:
    machine = nrm.compile("F gem & F door", nrm.envs.MINECRAFT_SYMBOLS)
    plain, discounted = (nrm.TaskEnv(MinecraftEnv(), machine, gamma=gamma) for gamma in (1.0, 0.5))
    plain.reset(seed=0)
    discounted.reset(seed=0)
    potential = plain.potential
    for action in (2, 2, 2, 1, 0, 0, 0, 1, 1):
        paid, found = plain.step(action)[1], discounted.step(action)[1]
        assert found == pytest.approx(0.5 * (potential + paid) - potential)
        potential += paid
        assert potential == plain.potential


@pytest.mark.parametrize("gamma", [0, 1.5, True, "x", float("nan")])
def test_discounts_that_are_none(gamma: object) -> None:
    with pytest.raises(NrmError):
        nrm.TaskEnv(MinecraftEnv(), paper_machine(), gamma=gamma)  # type: ignore[arg-type]


def test_rewards_that_are_no_potentials_have_no_discount() -> None:
    with pytest.raises(EnvError):
        nrm.TaskEnv(MinecraftEnv(), paper_machine(), pay="outputs", gamma=0.9)
