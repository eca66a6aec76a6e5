"""What an env of discs in the plane is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import gymnasium
import numpy as np

from nrm.aliases import Symbol
from nrm.envs.base import BatchedEnv
from nrm.envs.registry import ENVS, EnvConfig, TaskSpace
from nrm.envs.task_env import TaskEnv
from nrm.envs.termination import End
from nrm.errors import ConfigError, EnvError, unknown
from nrm.logic import atom, both
from nrm.machines import Alphabet, MooreMachine, Task, TaskSet, task_from_text

Place: TypeAlias = tuple[float, float]
"""A point, (x, y): x grows to the right and y upwards."""
Round: TypeAlias = tuple[float, float, float]
"""A disc without a name: x and y of its centre, and its radius."""

if TYPE_CHECKING:
    Discs: TypeAlias = Sequence[str] | Mapping[Symbol, Round | Sequence[Round]] | Sequence[tuple[Symbol, Round]]
else:
    Discs = tuple[str, ...]
"""Discs as Python may give them: texts (`red@-0.5,0.2,0.3`), or a mapping from a name to one disc or several. Files and
the command line give texts."""

Actions = Literal["discrete", "continuous"]
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
    discs: Discs = ("red@-0.5,0.2,0.35", "green@0.5,0.4,0.35", "blue@0.7,-0.7,0.15")
    """Names with centre and radius: red@-0.5,0.2,0.3, or in Python `{"red": (-0.5, 0.2, 0.3)}`. Discs of one name are
    one symbol. Where discs of different names overlap, several symbols hold at once: then `empty` must be None."""
    step: float = 0.1
    """How far one action moves at most, along each axis."""
    actions: Actions = "discrete"
    """"discrete": directions by number. "continuous": how far to move along each axis, from -1 to 1, in steps."""
    directions: Literal[8, 9] = 8
    """Of discrete actions: eight directions by 45 degrees, and with 9 also to stay."""
    noise: float = 0.0
    """Each coordinate of a move is disturbed by up to so much, drawn evenly."""
    start: tuple[float, ...] | Literal["outside"] = "outside"
    """Where episodes start: a point (x, y), anywhere in a disc (x, y, radius) or in a box (left, bottom, right, top),
    or "outside": anywhere within the bounds but in no disc."""
    edge: Edge = "stop"
    """What the bounds do: a move stops there, or one that leaves them ends the episode."""
    steps: int = 100
    """The length after which an episode is truncated."""
    observation: PlaneObservation = "position"
    """"position": x and y, (2,) float32. "lidar": for each name and ray the distance to the nearest disc of that name,
    as a share of the reach; 1 where there is none, 0 within one: (names * rays,) float32."""
    rays: int = 16
    """Rays of the lidar, evenly around the point."""
    reach: float = 2.0
    """How far the lidar sees."""
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
        set_field(self, "discs", tuple(str(disc) for disc in _discs(self.discs)))
        for name, known in (
            ("actions", get_args(Actions)),
            ("edge", get_args(Edge)),
            ("observation", get_args(PlaneObservation)),
        ):
            if getattr(self, name) not in known:
                raise EnvError(unknown(name, getattr(self, name), known))
        if self.directions not in (8, 9):
            raise EnvError(f"directions are 8, or 9 with staying, not {self.directions!r}")
        for name in ("step", "reach"):
            if not _finite(getattr(self, name)) or getattr(self, name) <= 0:
                raise EnvError(f"{name} must be a positive number, not {getattr(self, name)!r}")
        if not _finite(self.noise) or self.noise < 0:
            raise EnvError(f"noise must be a number from 0, not {self.noise!r}")
        for name in ("steps", "rays"):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise EnvError(f"{name} must be a whole number from 1, not {value!r}")
        self._check_start()
        self._check_names()

    @cached_property
    def placed(self) -> tuple[Disc, ...]:
        """Every single disc."""
        return _discs(self.discs)

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


def _discs(given: Any) -> tuple[Disc, ...]:
    """Any way to give discs as a plain tuple: one entry for each single disc."""
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise EnvError(f"discs are a list such as ['red@-0.5,0.2,0.3'], or a mapping from names, not {given!r}")
    found: list[Disc] = []
    for entry in given.items() if isinstance(given, Mapping) else given:
        if isinstance(entry, str):
            found.append(_spelt(entry))
            continue
        if isinstance(entry, Disc):
            entry = (entry.name, entry[1:])
        if not isinstance(entry, tuple | list) or len(entry) != 2 or not isinstance(entry[0], str):
            raise EnvError(f"a disc is a name with (x, y, radius), not {entry!r}")
        name, places = entry
        several = isinstance(places, tuple | list) and bool(places) and isinstance(places[0], tuple | list)
        found += [_disc(name, place) for place in (places if several else [places])]
    if not found:
        raise EnvError("an environment without any disc has no symbols; give at least one, such as red@-0.5,0.2,0.3")
    return tuple(found)


def _spelt(text: str) -> Disc:
    """A disc as text: `red@-0.5,0.2,0.3`."""
    name, at, place = text.partition("@")
    try:
        numbers = tuple(float(part) for part in place.split(","))
    except ValueError:
        numbers = ()
    if not at or len(numbers) != 3:
        raise EnvError(f"a disc is written as name@x,y,radius, such as 'red@-0.5,0.2,0.3', not {text!r}")
    return _disc(name.strip(), numbers)


def _disc(name: str, place: Any) -> Disc:
    if not name:
        raise EnvError(f"the disc at {place!r} has no name")
    x, y, radius = _numbers(place, 3, f"the disc '{name}' is made of x, y and a radius")
    if radius <= 0:
        raise EnvError(f"the radius of the disc '{name}' must be positive, not {radius:g}")
    return Disc(name, x, y, radius)


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
