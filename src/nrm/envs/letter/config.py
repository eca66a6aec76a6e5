"""What a LetterWorld is made of: one frozen record for the Gymnasium class and the batched one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import gymnasium

from nrm.envs.base import BatchedEnv
from nrm.envs.registry import ENVS, EnvConfig, TaskSpace
from nrm.envs.task_env import TaskEnv
from nrm.envs.task_runner import End
from nrm.errors import ConfigError, EnvError
from nrm.logic import atom
from nrm.machines import Alphabet, MooreMachine, Task, TaskSet, task_from_text

LetterObservation = Literal["planes", "image"]


@ENVS.register
@dataclass(frozen=True)
class LetterConfig(EnvConfig):
    """A torus with letters on it, which an agent sees from where it stands."""

    name = "letter"
    env_names = ("letter", "letter-image")
    titled = ("observation",)

    size: int = 7
    """Cells along a side."""
    letters: int = 12
    """How many letters there are: a, b, c, …"""
    copies: int = 2
    """On how many cells each letter stands."""
    steps: int = 75
    """The length after which an episode is truncated."""
    observation: LetterObservation = "planes"
    """"planes": one plane of zeros and ones for each letter, (size, size, letters) uint8. "image": (8 * size, 8 * size,
    3) uint8. Both with the agent in the middle."""
    empty: str = "empty"
    """The symbol that holds where no letter stands."""
    maps: str | None = None
    """A JSON file of grids that episodes are sampled from: a list of lists of rows, such as ["..a", "b..", ".a."], with
    `.` for an empty cell. Grids are sampled when absent."""

    def __post_init__(self) -> None:
        self._check_choices(observation=LetterObservation)
        self._check_whole(size=2, letters=1, copies=1, steps=1)
        for name, most in (("size", 31), ("letters", 26)):  # cells of a row are the bits of one word
            if getattr(self, name) > most:
                raise EnvError(f"{name} is at most {most}, not {getattr(self, name)}")
        # The empty cells are one piece, and each but the first has at most three neighbours that none before it has.
        if self.maps is None and self.letters * self.copies > self.cells - max(1, self.cells // 3):
            raise EnvError(
                f"{self.letters} letters on {self.copies} cells each do not fit into {self.size}x{self.size} cells "
                "with a way between them; take fewer, or a larger grid"
            )
        if self.empty in self.names:
            raise EnvError(f"'{self.empty}' names both a letter and the empty cell; rename the latter")

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
        return Alphabet.exclusive((*self.names, self.empty))

    @property
    def pixels(self) -> int:
        """The side of an image."""
        return 8 * self.size

    @classmethod
    def parse(cls, name: str) -> LetterConfig | None:
        """`letter` and `letter-image`."""
        return {"letter": cls(), "letter-image": cls(observation="image")}.get(name)

    def task(self, text: str | None) -> Task:
        """A task file, or a formula over the letters."""
        if text is None:
            raise ConfigError("no task is given; add one, such as --task 'F(a & F b) & G !c', or many: --tasks mixture")
        return task_from_text(text, self.alphabet)

    def recipe(self) -> str:
        """Images show the agent in the middle."""
        return "letter-image" if self.observation == "image" else "tasks"

    def task_space(self) -> TaskSpace:
        """The letters."""
        return TaskSpace(self.alphabet, tuple(atom(name) for name in self.names))

    def build(self, tasks: MooreMachine | TaskSet, count: int, end: End) -> BatchedEnv:
        """N tori."""
        from nrm.envs.letter.env import BatchedLetters

        return BatchedLetters(self, tasks, count, end)

    def render(self, machine: MooreMachine, mode: str, end: End) -> gymnasium.Env[Any, Any]:
        """One torus, as a picture."""
        from nrm.envs.letter.env import LetterEnv

        modes = LetterEnv.metadata["render_modes"]
        return TaskEnv(LetterEnv(self, render_mode=mode if mode in modes else "rgb_array"), machine, end=end)

    def title(self) -> str:
        """What is observed."""
        return "letter" if self.observation == "planes" else "letter-image"

    def algorithm(self) -> str:
        """Observations hardly come again."""
        return "ppo"
