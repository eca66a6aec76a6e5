"""The methods for reward machines on the environments where they were published (Toro Icarte et al., JAIR 2022).

    python -m benchmarks.headline office
    python -m benchmarks.headline water

*office*: tabular agents learn four tasks at once. Rewards per step are compared with those of the optimal policy, which
value iteration finds exactly: in training with a policy that explores as much as the agents do, afterwards without
exploration. *water*: DQN of Stable-Baselines3 with and without counterfactual experience.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import nrm
from benchmarks.results import Benchmark, Headline
from nrm.envs import OfficeConfig, OfficeEnv, WaterConfig, WaterEnv
from nrm.machines import TaskSet
from nrm.tabular import hrm, play, q_learning

SAFE = " & G !decoration"
TASKS = {
    "coffee": "F(coffee & F office)" + SAFE,
    "mail": "F(mail & F office)" + SAFE,
    "both": "(F(coffee & F(mail & F office)) | F(mail & F(coffee & F office)))" + SAFE,
    "visit": "F(a & F(b & F(c & F d)))" + SAFE,
}
"""The four tasks of the paper."""
GAMMA, EPSILON = 0.9, 0.1
STEPS, LAST = 100_000, 10_000
METHODS: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "Q-learning": (q_learning, {}, False),
    "Q-learning, shaping": (q_learning, {}, True),
    "CRM": (q_learning, {"crm": True}, False),
    "CRM, shaping": (q_learning, {"crm": True}, True),
    "HRM": (hrm, {}, False),
    "HRM, shaping": (hrm, {}, True),
}
"""Name: (how it is trained, with which settings, whether rewards are shaped)."""
PUBLISHED = {"Q-learning": 0.37, "CRM": 1.0, "HRM": 0.93}
"""Medians of the paper."""


def tasks(shaped: bool) -> TaskSet:
    """The tasks, which pay 1 for success; shaped, by value iteration on their machines."""
    scheme = f"value_iteration:gamma={GAMMA}" if shaped else "acceptance"
    machines = [nrm.compile(task, OfficeConfig().alphabet, reward=scheme) for task in TASKS.values()]
    return TaskSet(tuple(one.with_outputs(one.outputs / one.outputs.max()) for one in machines), tuple(TASKS))


class Optimum(NamedTuple):
    """What the optimal policy reaches."""

    steps: tuple[int, ...]
    """Of an episode of each task."""
    rate: float
    """Reward per step where it explores."""


@cache
def optimum() -> Optimum:
    """By value iteration over cells and states; the expected length and success of exploring by linear equations."""
    known, dynamics = tasks(shaped=False), OfficeConfig().dynamics()
    machine, cells = known.union, np.arange(108)
    none = np.zeros(0, dtype=np.uint64)
    moves = [dynamics.move({"cell": cells}, np.full(108, action), none, cells)[0]["cell"] for action in range(4)]
    letters = dynamics.reader(machine.alphabet)({"cell": cells})
    to = np.stack(moves, axis=1)[:, :, None].repeat(machine.states, axis=2)  # (cells, actions, states)
    after = machine.transitions.T[letters[to[..., 0]]]
    over, won = (machine.accepting | machine.dead)[after], machine.accepting[after].astype(np.float64)
    value = np.zeros((108, machine.states))
    for _ in range(300):
        worth = won + GAMMA * np.where(over, 0.0, value[to, after])
        value = worth.max(1)
    best = worth.argmax(1)
    share = np.full(worth.shape, EPSILON / 4)
    np.put_along_axis(share, best[:, None], 1 - EPSILON + EPSILON / 4, axis=1)
    pairs = np.arange(108 * machine.states).reshape(108, machine.states)
    leads = np.zeros((pairs.size, pairs.size))
    np.add.at(leads, (pairs[:, None].repeat(4, 1), pairs[to, after]), np.where(over, 0.0, share))
    lasts, wins = np.linalg.solve(np.eye(pairs.size) - leads, _both(share, won)).T
    start = int(dynamics.begin(np.zeros(1, dtype=np.uint64))["cell"][0])
    firsts = [int(pairs[start, state]) for state in known.initial]
    lengths = tuple(_length(start, int(state), best, to, after, over) for state in known.initial)
    return Optimum(lengths, float(wins[firsts].sum() / lasts[firsts].sum()))


def _both(share: NDArray[np.float64], won: NDArray[np.float64]) -> NDArray[np.float64]:
    """(pairs, 2) the steps and the reward that one step adds."""
    return np.stack([np.ones(share.shape[0] * share.shape[2]), (share * won).sum(1).ravel()], axis=1)


def _length(cell: int, state: int, best: Any, to: Any, after: Any, over: Any) -> int:
    """The steps of an episode of the optimal policy."""
    for step in range(1, 1000):
        where = cell, best[cell, state], state
        if over[where]:
            return step
        cell, state = int(to[where]), int(after[where])
    return 1000


class CountedEnv(nrm.TaskEnv[Any, Any]):
    """Notes which steps succeed: what the tasks pay without shaping."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.won: list[bool] = []

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step, noted."""
        shown = super().step(action)
        self.won.append(bool(self.machine.accepting[shown[4]["machine_state"]]))
        return shown


def office(method: str, seed: int, steps: int) -> dict[str, Any]:
    """Train one agent, and compare it with the optimal policy."""
    train, settings, shaped = METHODS[method]
    env = CountedEnv(OfficeEnv(), tasks(shaped), gamma=GAMMA if shaped else 1.0)
    agent: Any = train(env, steps, seed=seed, gamma=GAMMA, epsilon=EPSILON, **settings)
    best, succeeded = optimum(), np.array(env.won)
    episodes = [play(agent, env, task, seed) for task in range(len(TASKS))]
    greedy = [least / one.steps * one.success for least, one in zip(best.steps, episodes, strict=True)]
    return {
        "method": method,
        "seed": seed,
        "training": succeeded[-LAST:].mean() / best.rate,
        "whole training": succeeded.mean() / best.rate,
        "greedy": np.mean(greedy),
        **dict(zip(TASKS, greedy, strict=True)),
    }


def water(counterfactually: bool, seed: int, steps: int) -> dict[str, Any]:
    """Train DQN on one task; the share of the last episodes that succeed."""
    from stable_baselines3 import DQN
    from stable_baselines3.common.vec_env import DummyVecEnv

    from nrm.sb3 import NeuralRewardMachineVecWrapper, counterfactual

    task = nrm.compile("F(red & F(green & F blue))", WaterConfig().alphabet, reward="value_iteration")
    envs = DummyVecEnv([lambda: nrm.TaskEnv(WaterEnv(), task)] * 4)
    venv = NeuralRewardMachineVecWrapper(envs, task, reward_scale=0.01, gamma=0.9)
    extra = counterfactual(venv, task) if counterfactually else {}
    agent = DQN(
        "MultiInputPolicy",
        venv,
        learning_rate=1e-4,
        gamma=0.9,
        learning_starts=1000,
        batch_size=32,
        train_freq=1,
        gradient_steps=2,
        exploration_fraction=0.2,
        exploration_final_eps=0.1,
        policy_kwargs={"net_arch": [256, 256]},
        seed=seed,
        device="cpu",
        **extra,
    )
    agent.learn(steps)
    return {"method": "DQN, CRM" if counterfactually else "DQN", "seed": seed, **_tested(agent, venv, task)}


def _tested(agent: Any, venv: Any, task: nrm.MooreMachine) -> dict[str, float]:
    """The share of 40 episodes that succeed, exploring a little, and their steps."""
    generator = np.random.default_rng(0)
    wins: list[bool] = []
    lengths: list[float] = []
    venv.seed(12345)
    seen, times = venv.reset(), np.zeros(venv.num_envs)
    while len(wins) < 40:
        chosen = agent.predict(seen, deterministic=True)[0]
        slips = generator.random(venv.num_envs) < 0.05
        seen, _, dones, infos = venv.step(np.where(slips, generator.integers(0, 5, venv.num_envs), chosen))
        times += 1
        for index in np.flatnonzero(dones):
            wins.append(bool(task.accepting[infos[index]["machine_state"]]))
            lengths.append(float(times[index]))
            times[index] = 0
    return {"success": float(np.mean(wins)), "steps": float(np.mean(lengths))}


def _office_jobs(seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    return {f"{method} {seed}": (method, seed, STEPS) for seed in seeds for method in METHODS}


def _water_jobs(seeds: Sequence[int], steps: int = 100_000) -> dict[str, tuple[Any, ...]]:
    return {f"{'CRM' if crm else 'DQN'} {seed} {steps}": (crm, seed, steps) for seed in seeds for crm in (False, True)}


SEEDS = tuple(range(4000, 4010))
SCORES = ("training", "whole training", "greedy", *TASKS)
BENCHMARKS = {
    "office": Benchmark(
        Headline("office", "python -m benchmarks.headline office", SCORES), _office_jobs, office, SEEDS
    ),
    "water": Benchmark(
        Headline("water", "python -m benchmarks.headline water", ("success", "steps")), _water_jobs, water
    ),
}
