"""Tabular agents: exact on small decision processes, options that end where states change, misuse that is named."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

import nrm
from nrm.envs import OfficeEnv, WaterConfig, WaterEnv, ZonesConfig, ZonesEnv
from nrm.errors import EnvError, MachineError, NrmWarning
from nrm.machines import MooreMachine, Options, TaskSet
from nrm.tabular import HierarchicalAgent, QAgent, hrm, play, q_learning
from nrm.tabular.learning import Step, TabularConfig, train
from tests.small_mdps import (
    TASKS,
    SmallEnv,
    SmallMDP,
    deterministic,
    machine_of,
    paid_at_the_end,
    paid_shaped,
    sampled_mdp,
    values,
)

GAMMA = 0.9
EXACT = TabularConfig(gamma=GAMMA, learning_rate=1.0, initial=2.0)
CLOSE = 1e-3
"""What is left of the initial values after the sweeps."""


def task_env(mdp: SmallMDP, tasks: MooreMachine | TaskSet, gamma: float = 1.0) -> nrm.TaskEnv[Any, Any]:
    env = SmallEnv(mdp, (tasks.union if isinstance(tasks, TaskSet) else tasks).alphabet)
    return nrm.TaskEnv(TimeLimit(env, 50), tasks, gamma=gamma)


def swept(agent: Any, mdp: SmallMDP, states: list[int], sweeps: int = 100) -> None:
    """Every move of a deterministic process again and again, by which a learning rate of 1 is value iteration."""
    machine = agent.machine
    rows = [agent.row(np.int64(place)) for place in range(len(mdp.letters))]
    for _ in range(sweeps):
        for place, action in np.ndindex(*mdp.moves.shape[:2]):
            to = int(mdp.moves[place, action].argmax())
            letter = int(mdp.letters[to])
            for state in states:
                reached = machine.next_state(state, letter)
                reward = float(agent.env.paid(state, reached))
                agent.learn(Step(rows[place], state, action, reward, letter, rows[to], reached, False, False))


def live(machine: MooreMachine) -> NDArray[np.bool_]:
    return ~(machine.accepting | machine.dead)


@pytest.mark.parametrize("task", TASKS)
def test_counterfactual_experience_has_the_values_of_value_iteration(task: str) -> None:
    machine = machine_of(task, "acceptance")
    mdp = deterministic(sampled_mdp(0, machine.alphabet.size, places=8))
    exact = values(mdp, machine, GAMMA, paid_at_the_end(machine))
    agent = QAgent(task_env(mdp, machine), EXACT, crm=True)
    swept(agent, mdp, [machine.initial])  # all that happened was in one state
    assert agent.values.values[: len(mdp.letters)][:, live(machine)] == pytest.approx(
        exact[:, live(machine)], abs=CLOSE
    )
    assert (exact[:, live(machine)] > 0).any()


def test_without_it_a_state_learns_only_from_its_own_steps() -> None:
    machine = machine_of(TASKS[0], "acceptance")
    mdp = deterministic(sampled_mdp(4, machine.alphabet.size))
    exact = values(mdp, machine, GAMMA, paid_at_the_end(machine))
    agent = QAgent(task_env(mdp, machine), EXACT)
    swept(agent, mdp, [machine.initial], 5)
    others = live(machine) & (np.arange(machine.states) != machine.initial)
    assert (agent.values.values[:, others] == EXACT.initial).all()
    swept(agent, mdp, np.flatnonzero(live(machine)).tolist())
    assert agent.values.values[: len(mdp.letters)][:, live(machine)] == pytest.approx(
        exact[:, live(machine)], abs=CLOSE
    )


@pytest.mark.parametrize("scheme", ["distance", "value_iteration", "three_value:failure=-5"])
def test_shaped_values_differ_by_the_potential_so_that_policies_do_not(scheme: str) -> None:
    machine = machine_of(TASKS[1], scheme)
    mdp = deterministic(sampled_mdp(7, machine.alphabet.size))
    plain = values(mdp, machine, GAMMA, paid_at_the_end(machine))[:, live(machine)]
    agent = QAgent(task_env(mdp, machine, GAMMA), EXACT, crm=True)
    swept(agent, mdp, [machine.initial], 180)
    found = agent.values.values[: len(mdp.letters)][:, live(machine)]
    assert found == pytest.approx(values(mdp, machine, GAMMA, paid_shaped(machine, GAMMA))[:, live(machine)], abs=CLOSE)
    assert found == pytest.approx(GAMMA * plain - machine.outputs[None, live(machine), None], abs=CLOSE)


def test_options_are_the_edges_that_leave_states_and_equal_ones_are_shared() -> None:
    tasks = TaskSet.of(["F a & F b & G !d", "F(a & F c) & G !d", "F a", "!b U a"], nrm.Alphabet.exclusive("abcd"))
    options, machine = Options.of(tasks), tasks.union
    for state in range(machine.states):
        edges: dict[int, set[int]] = {}
        for letter in range(4):
            to = machine.next_state(state, letter)
            if to != state and (machine.dead[state] or not machine.dead[to]):
                edges.setdefault(to, set()).add(letter)
        offered = np.flatnonzero(options.possible[state])
        if not edges:
            assert offered.tolist() == [len(options) - 1]
            assert options.targets[state, -1] == state
            continue
        found = {}
        for option in offered:
            aimed = {letter for letter in range(4) if options.aims[option, machine.class_of(letter)]}
            lost = {letter for letter in range(4) if options.loses[option, machine.class_of(letter)]}
            found[int(options.targets[state, option])] = aimed
            assert lost == {
                n for n in range(4) if machine.dead[machine.next_state(state, n)] and not machine.dead[state]
            }
        assert found == edges
    # `a`, `b` and `c` without `d`; `a` alone; `a` before `b`; and nothing.
    assert len(options) == 6


def test_option_policies_have_the_values_of_value_iteration_for_their_guard() -> None:
    machine = machine_of(TASKS[1], "acceptance")
    mdp = deterministic(sampled_mdp(3, machine.alphabet.size))
    agent = HierarchicalAgent(task_env(mdp, machine), EXACT)
    agent.choose(agent.row(np.int64(0)), {"machine_state": machine.initial, "letter": -1}, 0.0)
    for _ in range(120):
        for place, action in np.ndindex(mdp.moves.shape[0], mdp.moves.shape[1]):
            to = int(mdp.moves[place, action].argmax())
            row, next_row = agent.row(np.int64(place)), agent.row(np.int64(to))
            step = Step(row, 0, action, 0.0, int(mdp.letters[to]), next_row, 0, False, False)
            agent._learn_policies(step)
    for option, (aims, loses) in enumerate(zip(agent.options.aims, agent.options.loses, strict=True)):
        best = np.zeros(len(mdp.letters))
        classes = machine.classes_of(mdp.letters)
        for _ in range(120):
            ahead = np.where(aims[classes], 1.0, np.where(loses[classes], 0.0, GAMMA * best))
            exact = mdp.moves @ ahead
            best = exact.max(1)
        rows = [agent.row(np.int64(place)) for place in range(len(mdp.letters))]
        assert agent.policies.values[rows, option] == pytest.approx(exact, abs=CLOSE)


def test_an_option_ends_exactly_where_the_state_changes() -> None:
    tasks = TaskSet.of(["F a & F b & G !d", "F(a & F c)"], nrm.Alphabet.exclusive("abcd"))
    agent = HierarchicalAgent(task_env(sampled_mdp(1, 4), tasks), TabularConfig())
    chosen: list[tuple[int, int, int]] = []
    learn = agent.learn

    def noting(step: Step) -> None:
        chosen.append((step.state, int(agent.option or 0), step.next_state))
        learn(step)
        assert (agent.option is None) == (step.ended or step.next_state != step.state)

    agent.learn = noting  # type: ignore[method-assign]
    train(agent, 600)
    assert all(agent.options.possible[state, option] for state, option, _ in chosen)
    stayed = [(one, other) for one, other in pairwise(chosen) if one[0] == one[2] == other[0]]
    assert len(stayed) > 100
    ended_early = sum(one[1] != other[1] for one, other in stayed)
    assert ended_early < 15  # only where an episode was cut off


def test_agents_solve_what_is_easy() -> None:
    alphabet = nrm.Alphabet.exclusive("abcd")
    moves = np.eye(4)[(np.arange(4)[:, None] + [1, -1]) % 4]  # a ring of a, b, c, d
    tasks = TaskSet.of(["F(a & F c)", "F b & G !a"], alphabet)
    env = task_env(SmallMDP(moves, np.arange(4)), tasks)
    for agent in (q_learning(env, 1500), q_learning(env, 1000, crm=True), hrm(env, 1000)):
        assert play(agent, env, 0).success
        episodes = [play(agent, env, 1, seed) for seed in range(8)]
        assert {episode.success for episode in episodes if episode.steps > 1} <= {True}
        assert max(episode.steps for episode in episodes) <= 2


def test_edges_that_nothing_triggers_are_named_after_training() -> None:
    alphabet = nrm.Alphabet.exclusive("abz")
    mdp = SmallMDP(np.full((2, 2, 2), 0.5), np.array([0, 1]))
    with pytest.warns(NrmWarning, match=r"'z'.*state 1"):
        hrm(task_env(mdp, nrm.compile("F(a & F z)", alphabet)), 200)


def test_misuse_is_named() -> None:
    zones, water = ZonesConfig().alphabet, WaterConfig().alphabet
    with pytest.raises(EnvError, match="Box"):
        q_learning(nrm.TaskEnv(ZonesEnv(), nrm.compile("F green", zones)), 10)
    with pytest.raises(EnvError, match="of 1000 observations"):
        q_learning(nrm.TaskEnv(WaterEnv(), nrm.compile("F red & F green", water)), 2000, crm=True)
    office = OfficeEnv()
    tasks = TaskSet.of(["F coffee", "G !decoration"], office.config.alphabet)
    with pytest.raises(MachineError, match="G !decoration"):
        hrm(nrm.TaskEnv(office, tasks, end="limit"), 10)
    machine = nrm.compile("F coffee", office.config.alphabet)
    with pytest.raises(EnvError, match=r"0\.5"):
        q_learning(nrm.TaskEnv(office, machine, gamma=0.5), 10)
    with pytest.raises(EnvError, match="epsilon"):
        q_learning(nrm.TaskEnv(office, machine), 10, epsilon=2)


def test_observations_get_rows_however_many_there_are() -> None:
    env = nrm.TaskEnv(gymnasium.make("nrm/Minecraft-v0", size=20), nrm.compile("F gem", nrm.envs.MINECRAFT_SYMBOLS))
    agent = q_learning(env, 900)
    rows = [agent.row(np.array([x, y], dtype=np.float32)) for x in range(20) for y in range(20)]
    assert len(set(rows)) == 400
    assert agent.values[399].shape == (env.machine.states, 4)
