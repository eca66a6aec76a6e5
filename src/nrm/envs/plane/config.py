"""What an env of discs in the plane is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import gymnasium
import numpy as np

from nrm.aliases import Symbol
from nrm.envs.base import BatchedEnv
from nrm.envs.registry import ENVS, EnvConfig, TaskSpace
from nrm.envs.task_env import TaskEnv
from nrm.envs.task_runner import End
from nrm.errors import ConfigError, EnvError
from nrm.logic import atom, both
from nrm.machines import Alphabet, MooreMachine, Task, TaskSet, task_from_text

Place: TypeAlias = tuple[float, float]
"""A point, (x, y): x grows to the right and y upwards."""
Actions = Literal["discrete", "continuous"]
Directions = Literal[8, 9]
Edge = Literal["stop", "end"]
PlaneObservation = Literal["position", "lidar"]


class Disc(NamedTuple):
    """One disc; several may share a name."""

    name: Symbol
    x: float
    y: float
    radius: float

    def __str__(self) -> str:
        return f"{self.name}@{self.x:g},{self.y:g},{self.radius:g}"


@ENVS.register
@dataclass(frozen=True)
class PlaneConfig(EnvConfig):
    """A rectangle with discs in it, and how a point moves there. The defaults are the environment `robot`."""

    name = "plane"
    env_names = ("robot", "flat")
    titled = ("observation",)

    bounds: tuple[float, float, float, float] = (-1.0, -1.0, 1.0, 1.0)
    """Left, bottom, right and top of the rectangle."""
    discs: Sequence[str] = ("red@-0.5,0.2,0.35", "green@0.5,0.4,0.35", "blue@0.7,-0.7,0.15")
    """Names with centre and radius: red@-0.5,0.2,0.3. Discs of one name are one symbol. Where discs of different names
    overlap, several symbols hold at once: then `empty` must be None."""
    step: float = 0.1
    """How far one action moves at most, along each axis."""
    actions: Actions = "discrete"
    """"discrete": directions by number. "continuous": how far to move along each axis, from -1 to 1, in steps."""
    directions: Directions = 8
    """Of discrete actions: eight directions by 45 degrees, and with 9 also to stay."""
    start: tuple[float, ...] | Literal["outside"] = "outside"
    """Where episodes start: a point (x, y), anywhere in a disc (x, y, radius) or in a box (left, bottom, right, top),
    or "outside": anywhere within the bounds but in no disc."""
    edge: Edge = "stop"
    """What the bounds do: a move stops there, or one that leaves them ends the episode."""
    steps: int = 100
    """The length after which an episode is truncated."""
    observation: PlaneObservation = "position"
    """"position": x and y, (2,) float32. "lidar": for each name and ray the distance to the nearest disc of that name,
    up to 2, as a share of that; 1 where there is none, 0 within one: (names * 16,) float32."""
    empty: Symbol | None = "empty"
    """The symbol that holds in no disc; None when nothing then holds (for propositional alphabets)."""
    outside: Symbol | None = None
    """With edge "end": the symbol that holds at the step that leaves the bounds, so that a task can forbid it; without
    it, leaving ends the episode and is neither paid for nor punished."""

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "bounds", _numbers(self.bounds, 4, "bounds are left, bottom, right and top"))
        left, bottom, right, top = self.bounds
        if not (left < right and bottom < top):
            raise EnvError(f"bounds are left, bottom, right and top, the first two below the others: {self.bounds}")
        if isinstance(self.discs, str) or not isinstance(self.discs, Sequence) or not self.discs:
            raise EnvError(f"discs are a list with at least one, such as ['red@-0.5,0.2,0.3'], not {self.discs!r}")
        set_field(self, "discs", tuple(str(_disc(disc)) for disc in self.discs))
        self._check_choices(actions=Actions, edge=Edge, observation=PlaneObservation, directions=Directions)
        if not _finite(self.step) or self.step <= 0:
            raise EnvError(f"step must be a positive number, not {self.step!r}")
        self._check_whole(steps=1)
        self._check_start()
        self._check_names()

    @cached_property
    def placed(self) -> tuple[Disc, ...]:
        """Every single disc."""
        return tuple(map(_disc, self.discs))

    @cached_property
    def names(self) -> tuple[Symbol, ...]:
        """The different names of discs, in order."""
        return tuple(dict.fromkeys(disc.name for disc in self.placed))

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All that can hold, in the order of the environment's alphabet: discs, leaving, nothing."""
        return (*self.names, *(name for name in (self.outside, self.empty) if name is not None))

    @property
    def overlap(self) -> tuple[Disc, Disc] | None:
        """Two discs of different names that overlap, if there are any."""
        discs = self.placed
        for place, one in enumerate(discs):
            for other in discs[place + 1 :]:
                apart = math.hypot(one.x - other.x, one.y - other.y)
                if one.name != other.name and apart <= one.radius + other.radius:
                    return one, other
        return None

    @property
    def size(self) -> int:
        """How many discrete actions there are."""
        return self.directions

    @classmethod
    def parse(cls, name: str) -> PlaneConfig | None:
        """`robot` and `flat`."""
        return {"robot": ROBOT, "flat": FLAT}.get(name)

    @property
    def alphabet(self) -> Alphabet:
        """One symbol at a time; where discs may overlap, the sets of them that hold together somewhere."""
        if self.empty is not None:
            return Alphabet.exclusive(self.symbols)
        sets = self._occurring()
        leaving = [] if self.outside is None else [(*names, self.outside) for names in sets]
        return Alphabet.of_sets(self.symbols, [*sets, *leaving])

    def _occurring(self) -> tuple[tuple[Symbol, ...], ...]:
        from nrm.envs.plane.geometry import Geometry

        return Geometry(self).occurring()

    def task(self, text: str | None) -> Task:
        """A task file, or a formula over the environment's symbols."""
        if text is None:
            first, *rest = self.names
            formula = f"F({first} & F {rest[0]})" if rest else f"F {first}"
            raise ConfigError(f"no task is given; add one, such as --task '{formula}'")
        return task_from_text(text, self.alphabet)

    def recipe(self) -> str:
        """Paths are long."""
        return "flat"

    def task_space(self) -> TaskSpace:
        """Each colour by itself and, where discs overlap, the colours that hold together somewhere."""
        together = (both(*map(atom, names)) for names in self._occurring() if len(names) > 1)
        return TaskSpace(self.alphabet, (*map(atom, self.names), *together))

    def build(self, tasks: MooreMachine | TaskSet, count: int, end: End) -> BatchedEnv:
        """N planes."""
        from nrm.envs.plane.env import BatchedPlane

        return BatchedPlane(self, tasks, count, end)

    def render(self, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        """One plane."""
        from nrm.envs.plane.env import PlaneEnv

        return TaskEnv(PlaneEnv(self, render_mode=mode), machine, end=end)

    def title(self) -> str:
        """The plane's name, and what is observed."""
        named = {"robot": ROBOT, "flat": FLAT}.items()
        same = (name for name, known in named if (known.bounds, known.discs) == (self.bounds, self.discs))
        name = next(same, "plane")
        return name if self.observation == "position" else f"{name}-{self.observation}"

    def _check_start(self) -> None:
        if self.start == "outside":
            return
        given: Any = self.start
        if isinstance(given, str) or not isinstance(given, tuple | list) or not 2 <= len(given) <= 4:
            raise EnvError(
                "episodes start 'outside' of all discs, at a point (x, y), in a disc (x, y, radius) or in a box (left, "
                f"bottom, right, top), not at {given!r}"
            )
        start = _numbers(given, len(given), "the start is made of numbers")
        object.__setattr__(self, "start", start)
        x, y, *rest = start
        far = [(x, y)]
        if len(rest) == 1:
            if rest[0] < 0:
                raise EnvError(f"the disc that episodes start in has the radius {rest[0]:g}; it must not be negative")
            far = [(x - rest[0], y - rest[0]), (x + rest[0], y + rest[0])]
        elif rest:
            if not (x <= rest[0] and y <= rest[1]):
                raise EnvError(f"the box that episodes start in is (left, bottom, right, top), not {start}")
            far.append((rest[0], rest[1]))
        left, bottom, right, top = self.bounds
        if not all(left <= a <= right and bottom <= b <= top for a, b in far):
            raise EnvError(f"episodes start at {start}, which is not within the bounds {self.bounds}")

    def _check_names(self) -> None:
        own = [name for name in (self.outside, self.empty) if name is not None]
        for name in own:
            if name in self.names:
                raise EnvError(f"'{name}' names both a disc and a place without one; rename one of them")
        if len(set(own)) < len(own):
            raise EnvError(f"'{self.empty}' names both a place without a disc and leaving; rename one of them")
        if self.outside is not None and self.edge != "end":
            raise EnvError(f"outside='{self.outside}' is for edge 'end'; with '{self.edge}' nobody ever leaves")
        if self.empty is not None and (pair := self.overlap) is not None:
            raise EnvError(
                f"the discs {pair[0]} and {pair[1]} overlap, so that both their names can hold: say empty=None, for "
                "propositions, or move one of them"
            )


def _finite(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(float(value))


def _numbers(values: Any, count: int, what: str) -> tuple[float, ...]:
    """`count` finite numbers, or an error that says what they should be."""
    if isinstance(values, tuple | list) and len(values) == count and all(map(_finite, values)):
        return tuple(float(value) for value in values)
    raise EnvError(f"{what}: {count} finite numbers, not {values!r}")


def _disc(text: object) -> Disc:
    """A disc as text: `red@-0.5,0.2,0.3`."""
    name, _, place = text.partition("@") if isinstance(text, str) else ("", "", "")
    try:
        numbers = tuple(float(part) for part in place.split(","))
    except ValueError:
        numbers = ()
    if not name.strip() or len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise EnvError(f"a disc is written as name@x,y,radius, such as 'red@-0.5,0.2,0.3', not {text!r}")
    if numbers[2] <= 0:
        raise EnvError(f"the radius of the disc '{name}' must be positive, not {numbers[2]:g}")
    return Disc(name.strip(), *numbers)


ROBOT = PlaneConfig()
"""Three discs that do not meet: red, green and blue."""

FLAT = PlaneConfig(
    bounds=(-2.0, -2.0, 2.0, 2.0),
    discs=(
        "red@-1.4,0.55,0.4",
        "magenta@-1.1,1.1,0.5",
        "yellow@-1,-1.2,0.3",
        "orange@-1.53,-0.5,0.32",
        "blue@0.1,0,0.8",
        "red@0.5,-1.3,0.35",
        "green@0.7,0.7,0.5",
        "green@1.5,-0.75,0.4",
        "aqua@0.8,0.2,0.3",
    ),
    step=0.08,
    directions=9,
    start="outside",
    edge="end",
    steps=500,
    empty=None,
)
"""FlatWorld: nine discs of seven colours, some of which overlap; whoever leaves ends the episode."""
