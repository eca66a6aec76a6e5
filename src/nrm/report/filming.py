"""What a trained agent does in an environment without a board: episodes as small pictures, one a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.agents import Trainer, action_names, film
from nrm.aliases import Json
from nrm.errors import EnvError
from nrm.machines import MooreMachine
from nrm.report.pictures import Tiles
from nrm.report.steps import SEED, end_of, step_row
from nrm.runs import RunConfig
from nrm.tracking import Belief

MAX_PICTURES = 120
"""Steps of an episode that are kept, each with a picture."""
SIDE = 160
"""Most pixels along a side of a picture."""


class NoPictureError(EnvError):
    """An environment of which a page can show nothing. Not a fault of the run."""


def film_task(
    config: RunConfig,
    trainer: Trainer,
    machine: MooreMachine,
    tiles: Tiles,
    seed: int = SEED,
    belief: Belief | None = None,
) -> Json:
    """Play an episode by a run's policy and one by its best actions in an environment that renders pixels."""
    episodes = []
    letters: set[int] = set()
    actions: tuple[str, ...] = ()
    for greedy in (False, True):
        env = config.env_config.render(machine, "rgb_array", config.end)
        if env.render_mode != "rgb_array":
            raise NoPictureError(f"{config.env} renders no pixels")
        actions = action_names(env)
        start, end, steps = -1, "cut", []
        for pictures, played in film(trainer, env, seed, greedy, belief, config.env):
            if not pictures:
                raise NoPictureError(f"{config.env} draws nothing")
            numbers = [tiles.number(small(np.asarray(picture))) for picture in pictures]
            start = numbers[0] if start < 0 else start
            row = {**step_row(played), "frame": numbers[-1]}
            letters |= {row["letter"], *(letter for letter, _ in row.get("read", ()))}
            steps.append(row)
            end = end_of(played, machine)
            if end != "cut" or len(steps) == MAX_PICTURES:
                break
        env.close()
        episodes.append({"greedy": greedy, "start": start, "end": end, "steps": steps})
    return {
        "filmed": True,
        "names": {letter: machine.alphabet.letter_name(letter) for letter in sorted(letters)},
        "actions": actions,
        "grounding": None,
        "episodes": episodes,
    }


def small(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture (height, width, 3) with sides of at most `SIDE`: means of squares, in few colours, which pack well."""
    height, width = picture.shape[:2]
    factor = -(-max(height, width) // SIDE)
    if factor == 1:
        return picture
    cut = picture[: height // factor * factor, : width // factor * factor]
    blocks = cut.reshape(height // factor, factor, width // factor, factor, 3)
    means: NDArray[np.uint8] = blocks.mean((1, 3)).astype(np.uint8) // 8 * 8 + 3
    return means
