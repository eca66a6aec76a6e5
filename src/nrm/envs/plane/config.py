"""What an env of discs in the plane is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from nrm.aliases import Symbol
from nrm.envs.batched import Dynamics
from nrm.envs.registry import ENVS, OwnEnvConfig, TaskSpace
from nrm.errors import EnvError
from nrm.logic import atom, both
from nrm.machines import Alphabet

Actions = Literal["discrete", "continuous"]


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
class PlaneConfig(OwnEnvConfig):
    """A point among discs in a rectangle. The defaults are the environment `robot`."""

    name = "plane"
    env_names = ("robot", "flat")
    titled = ("observation",)
    observations = ("position", "lidar")
    usual: ClassVar = {"steps": 100, "observation": "position"}

    bounds: ClassVar = (-1.0, -1.0, 1.0, 1.0)
    """Left, bottom, right and top of the rectangle."""
    step: ClassVar = 0.1
    """How far one action moves at most, along each axis."""
    directions: ClassVar = 8
    """Of discrete actions: eight directions by 45 degrees, and with 9 also to stay."""
    start: ClassVar[tuple[float, float] | Literal["outside"]] = "outside"
    """Where episodes start: a point (x, y), or "outside": anywhere within the bounds but in no disc."""
    edge: ClassVar[Literal["stop", "end"]] = "stop"
    """What the bounds do: a move stops there, or one that leaves them ends the episode."""

    discs: Sequence[str] = ("red@-0.5,0.2,0.35", "green@0.5,0.4,0.35", "blue@0.7,-0.7,0.15")
    """Discs with centre and radius: red@-0.5,0.2,0.3. Discs of one name are one symbol. If discs of different names
    overlap, several propositions are true at once, and empty must be None."""
    actions: Actions = "discrete"
    """discrete: numbered directions. continuous: the move along each axis, from -1 to 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.discs:
            raise EnvError("discs are a list with at least one, such as ['red@-0.5,0.2,0.3']")
        object.__setattr__(self, "discs", tuple(map(str, self.placed)))
        if self.empty is not None and (pair := self.overlap) is not None:
            raise EnvError(
                f"the discs {pair[0]} and {pair[1]} overlap: say empty=None, for propositions, or move one of them"
            )

    @cached_property
    def placed(self) -> tuple[Disc, ...]:
        """Every single disc."""
        return tuple(map(_disc, self.discs))

    @cached_property
    def names(self) -> tuple[Symbol, ...]:
        return tuple(dict.fromkeys(disc.name for disc in self.placed))

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

    @classmethod
    def parse(cls, name: str) -> PlaneConfig | None:
        return {"robot": ROBOT, "flat": FLAT}.get(name)

    @property
    def alphabet(self) -> Alphabet:
        """One symbol at a time; where discs may overlap, the sets of them that hold together somewhere."""
        if self.empty is not None:
            return Alphabet.exclusive((*self.names, self.empty))
        return Alphabet.of_sets(self.names, self.occurring())

    def occurring(self) -> tuple[tuple[Symbol, ...], ...]:
        """The sets of names that hold together somewhere in the plane, the empty one first.

        Every region between circles touches a point where two circles meet, or is bounded by circles that meet no
        other one: so it is enough to look there, on either side of each circle.
        """
        discs, names = self.placed, self.names
        touching = 1e-9  # points this near to a circle lie on it
        found: set[tuple[str, ...]] = {()}
        for number, one in enumerate(discs):
            points = [(one.x + one.radius, one.y)]
            for other in discs[:number] + discs[number + 1 :]:
                points += _meetings(one, other)
            for x, y in points:
                away = [math.hypot(disc.x - x, disc.y - y) - disc.radius for disc in discs]
                inside = {disc.name for disc, apart in zip(discs, away, strict=True) if apart < -touching}
                near = [disc.name for disc, apart in zip(discs, away, strict=True) if abs(apart) <= touching]
                for chosen in range(1 << len(near)):
                    held = inside | {name for bit, name in enumerate(near) if chosen >> bit & 1}
                    found.add(tuple(name for name in names if name in held))
        return tuple(sorted(found, key=lambda held: (len(held), [names.index(name) for name in held])))

    def recipe(self) -> str:
        return "flat"

    def task_space(self) -> TaskSpace:
        """Each colour by itself and, where discs overlap, the colours that hold together somewhere."""
        together = (both(*map(atom, names)) for names in self.occurring() if len(names) > 1)
        return TaskSpace(self.alphabet, (*map(atom, self.names), *together))

    def dynamics(self) -> Dynamics:
        from nrm.envs.plane.env import PlaneDynamics

        return PlaneDynamics(self)

    def title(self) -> str:
        named = {"robot": ROBOT, "flat": FLAT}.items()
        same = (name for name, known in named if (known.bounds, known.discs) == (self.bounds, self.discs))
        name = next(same, "plane")
        return name if self.observation == "position" else f"{name}-{self.observation}"


class FlatConfig(PlaneConfig):
    """A larger plane without walls, and smaller steps."""

    bounds: ClassVar = (-2.0, -2.0, 2.0, 2.0)
    step: ClassVar = 0.08
    directions: ClassVar = 9
    edge: ClassVar[Literal["stop", "end"]] = "end"


def _disc(text: str) -> Disc:
    """A disc as text: `red@-0.5,0.2,0.3`."""
    name, _, place = text.partition("@")
    try:
        numbers = tuple(float(part) for part in place.split(","))
    except ValueError:
        numbers = ()
    if not name.strip() or len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise EnvError(f"a disc is written as name@x,y,radius, such as 'red@-0.5,0.2,0.3', not {text!r}")
    if numbers[2] <= 0:
        raise EnvError(f"the radius of the disc '{name}' must be positive, not {numbers[2]:g}")
    return Disc(name.strip(), *numbers)


def _meetings(one: Disc, other: Disc) -> list[tuple[float, float]]:
    """The points where two circles meet or touch: none, one or two."""
    across, up = other.x - one.x, other.y - one.y
    apart = math.hypot(across, up)
    if apart == 0 or apart > one.radius + other.radius or apart < abs(one.radius - other.radius):
        return []
    along = (apart**2 + one.radius**2 - other.radius**2) / (2 * apart)
    aside = math.sqrt(max(one.radius**2 - along**2, 0.0))
    x, y = one.x + along * across / apart, one.y + along * up / apart
    return [(x - side * up / apart, y + side * across / apart) for side in {aside, -aside}]


ROBOT = PlaneConfig()
"""Three discs that do not meet: red, green and blue."""

FLAT = FlatConfig(
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
    steps=500,
    empty=None,
)
"""FlatWorld: nine discs of seven colours, some of which overlap; whoever leaves ends the episode."""
