"""Five continuous environments such as users write, each with a task and the default settings of `nrm train`.

A delivery drone with momentum, a patrol around a hazard, two rooms with a door, a robot on wheels with a `Dict`
observation, and MuJoCo's Reacher (`pip install 'gymnasium[mujoco]' 'mujoco<4'`). Settings were chosen on seeds 101 to
103. `python -m benchmarks.headline continuous` trains RM and NRM and tests each on 100 fresh episodes, no rewards read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from benchmarks.common import processor_seconds
from benchmarks.results import Benchmark, Headline, Jobs, Row
from nrm.agents import evaluate
from nrm.runs import choose_run

SIDE = 10.0


class Square(gymnasium.Env[Any, np.ndarray]):
    """A point in a square of 10 by 10, with round places in it. Actions are velocities."""

    places: ClassVar[dict[str, tuple[float, float, float]]] = {}
    """Middle and radius of each."""
    start: ClassVar[tuple[float, float, float, float]] = (0.5, 0.5, 1.5, 1.5)
    """The corners of the rectangle that episodes begin in."""
    speed = 0.3
    steps = 80

    def __init__(self) -> None:
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space: spaces.Space[Any] = spaces.Box(0.0, SIDE, (2,), np.float32)
        self.symbols = (*self.places, "elsewhere")

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin somewhere in the rectangle, at rest."""
        super().reset(seed=seed, options=options)
        self.position = self.np_random.uniform(self.start[:2], self.start[2:])
        self.time = 0
        return self.observe(), {}

    def step(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move, and say where one is."""
        self.position = np.clip(self.moved(np.asarray(action, dtype=np.float64)), 0.0, SIDE)
        self.time += 1
        return self.observe(), 0.0, False, self.time >= self.steps, {"labels": self.place()}

    def moved(self, action: np.ndarray) -> np.ndarray:
        """The position that an action leads to."""
        return self.position + self.speed * action

    def observe(self) -> Any:
        """The position."""
        return self.position.astype(np.float32)

    def place(self) -> str:
        """What holds: the place that the point is in."""
        inside = (name for name, (x, y, r) in self.places.items() if np.hypot(*(self.position - (x, y))) < r)
        return next(inside, "elsewhere")


class Patrol(Square):
    """The shop, then the bank; the pond lies between them."""

    places: ClassVar = {"shop": (2.5, 5.0, 1.0), "bank": (8.0, 5.0, 1.0), "pond": (5.25, 5.0, 1.2)}


class Drone(Square):
    """Actions accelerate. The parcel, then the customer, who lives behind a tower."""

    places: ClassVar = {"parcel": (2.0, 7.0, 1.0), "customer": (8.0, 2.0, 1.0), "tower": (5.5, 4.0, 1.2)}
    steps = 100

    def __init__(self) -> None:
        super().__init__()
        low, high = np.array([0, 0, -1, -1], np.float32), np.array([SIDE, SIDE, 1, 1], np.float32)
        self.observation_space = spaces.Box(low, high)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """At rest."""
        self.velocity = np.zeros(2)
        return super().reset(seed=seed, options=options)

    def moved(self, action: np.ndarray) -> np.ndarray:
        """Thrust against drag; walls stop the drone."""
        self.velocity = 0.9 * self.velocity + 0.05 * action
        position = self.position + self.velocity
        self.velocity[(position < 0) | (position > SIDE)] = 0.0
        return position

    def observe(self) -> Any:
        """Position and velocity."""
        return np.concatenate([self.position, self.velocity]).astype(np.float32)


class Rooms(Square):
    """Two rooms with a door in the wall between them: the key in one, the chest in the other."""

    places: ClassVar = {"key": (2.0, 8.0, 1.0), "chest": (8.0, 8.0, 1.0)}
    start: ClassVar = (0.5, 0.5, 4.0, 4.0)
    steps = 100
    door = (3.0, 5.0)
    """Its lower and upper end, in the wall at x = 5."""

    def moved(self, action: np.ndarray) -> np.ndarray:
        """Nothing passes the wall but at the door."""
        wished = self.position + self.speed * action
        crosses = (self.position[0] < SIDE / 2) != (wished[0] < SIDE / 2)
        blocked = crosses and not self.door[0] < self.position[1] < self.door[1]
        return np.array([self.position[0], wished[1]]) if blocked else wished


class Wheels(Square):
    """A robot that drives forwards and turns, with a `Dict` observation: bread, then butter, then the table."""

    places: ClassVar = {"bread": (2.0, 6.0, 1.0), "butter": (5.0, 8.5, 1.0), "table": (8.5, 4.0, 1.0)}
    steps = 120

    def __init__(self) -> None:
        super().__init__()
        heading = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space = spaces.Dict({"position": self.observation_space, "heading": heading})

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Heading east."""
        self.heading = 0.0
        return super().reset(seed=seed, options=options)

    def moved(self, action: np.ndarray) -> np.ndarray:
        """The first number drives, from rest to full speed; the second one turns."""
        self.heading += 0.4 * float(action[1])
        return self.position + self.speed * (float(action[0]) + 1) / 2 * self._direction()

    def observe(self) -> Any:
        """Position and heading."""
        return {"position": super().observe(), "heading": self._direction().astype(np.float32)}

    def _direction(self) -> np.ndarray:
        return np.array([np.cos(self.heading), np.sin(self.heading)])


HERE = "benchmarks.continuous"
REACHER: dict[str, Any] = {
    "label": "benchmarks.reacher:region",
    "symbols": ["north", "south", "west", "elsewhere"],
    "kwargs": {"max_episode_steps": 100},
}
ENVIRONMENTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "drone": (f"{HERE}:Drone", "F(parcel & F customer) & G !tower", {}),
    "patrol": (f"{HERE}:Patrol", "F(shop & F bank) & G !pond", {}),
    "rooms": (f"{HERE}:Rooms", "F(key & F chest)", {}),
    "wheels": (f"{HERE}:Wheels", "F(bread & F(butter & F table))", {}),
    "reacher": ("gym:Reacher-v5", "F(north & F(south & F north)) & G !west", REACHER),
}
"""Environment, task and settings of the environment, by name."""


def jobs(seeds: Sequence[int]) -> Jobs:
    """A run for each environment, method and seed."""
    every = ((seed, name, method) for seed in seeds for name in ENVIRONMENTS for method in ("rm", "nrm"))
    return {f"{name} {method} {seed}": (name, method, seed) for seed, name, method in every}


def measured(name: str, method: str, seed: int) -> Row:
    """Train one agent and test it with sampled actions, and with its best ones."""
    env, task, settings = ENVIRONMENTS[name]
    run = choose_run(task, env, method, seed, settings={"env": settings})
    began = processor_seconds()
    trainer = run.build_trainer()
    trainer.run()
    spent = processor_seconds() - began
    sampled, greedy = (evaluate(trainer, run.build_env(16), 100, seed + 10_000, greedy=best) for best in (False, True))
    return {
        "task": name,
        "method": method,
        "seed": seed,
        "success": sampled.success_rate,
        "return": sampled.mean_return,
        "greedy_success": greedy.success_rate,
        "grounding": sampled.grounding and sampled.grounding.modulo_shortcuts,
        "cpu_seconds": spent,
    }


SCORES = ("success", "return", "greedy_success", "grounding", "cpu_seconds")
HEADLINE = Headline("continuous", "python -m benchmarks.headline continuous", SCORES, ("method", "task"))
BENCHMARKS = {"continuous": Benchmark(HEADLINE, jobs, measured)}
