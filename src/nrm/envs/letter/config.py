"""What a LetterWorld is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from nrm.envs.batched import Dynamics
from nrm.envs.registry import ENVS, OwnEnvConfig
from nrm.errors import EnvError
from nrm.machines import Alphabet

LetterObservation = Literal["planes", "image"]


@ENVS.register
@dataclass(frozen=True)
class LetterConfig(OwnEnvConfig):
    """A torus with letters on it, each on two cells, which an agent sees from where it stands."""

    name = "letter"
    env_names = ("letter", "letter-image")
    titled = ("observation",)
    usual_steps = 75

    size: Annotated[int, msgspec.Meta(ge=2, le=31)] = 7  # cells of a row are the bits of one word
    """Cells along a side."""
    letters: Annotated[int, msgspec.Meta(ge=1, le=26)] = 12
    """How many letters there are: a, b, c, …"""
    observation: LetterObservation = "planes"
    """"planes": one plane of zeros and ones for each letter, (size, size, letters) uint8. "image": (8 * size, 8 * size,
    3) uint8. Both with the agent in the middle."""
    maps: str | None = None
    """A JSON file of grids that episodes are sampled from: a list of lists of rows, such as ["..a", "b..", ".a."], with
    `.` for an empty cell. Grids are sampled when absent."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # The empty cells are one piece, and each but the first has at most three neighbours that none before it has.
        if self.maps is None and self.letters * 2 > self.cells - max(1, self.cells // 3):
            raise EnvError(
                f"{self.letters} letters on two cells each do not fit into {self.size}x{self.size} cells with a way "
                "between them; take fewer, or a larger grid"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(width, height) in cells."""
        return self.size, self.size

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.size**2

    @property
    def names(self) -> tuple[str, ...]:
        """The letters."""
        return tuple(chr(ord("a") + number) for number in range(self.letters))

    @property
    def alphabet(self) -> Alphabet:
        """Exactly one of the letters or `empty` holds at each step."""
        return Alphabet.exclusive((*self.names, self.empty or "empty"))

    @property
    def pixels(self) -> int:
        """The side of an image."""
        return 8 * self.size

    @classmethod
    def parse(cls, name: str) -> LetterConfig | None:
        """`letter` and `letter-image`."""
        return {"letter": cls(), "letter-image": cls(observation="image")}.get(name)

    def recipe(self) -> str:
        """Images show the agent in the middle."""
        return "letter-image" if self.observation == "image" else "tasks"

    def dynamics(self) -> Dynamics:
        """Letters on a torus."""
        from nrm.envs.letter.env import LetterDynamics

        return LetterDynamics(self)

    def title(self) -> str:
        """What is observed."""
        return "letter" if self.observation == "planes" else "letter-image"

    def algorithm(self) -> str:
        """Observations hardly come again."""
        return "ppo"
