"""What a trained agent does in a world without a board: episodes as small pictures, one a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nrm.agents import Trainer
from nrm.agents.evaluation import Played
from nrm.agents.filming import action_names, film
from nrm.aliases import Json
from nrm.errors import WorldError
from nrm.report.pictures import Tiles
from nrm.report.steps import SEED, end_of, step_row
from nrm.results import Record

MOST_PICTURES = 120
"""Steps of an episode that are kept, each with a picture."""
SIDE = 160
"""Most pixels along a side of a picture."""


class NoPictureError(WorldError):
    """A world of which a page can show nothing. Not a fault of the run."""


def film_run(record: Record, trainer: Trainer, tiles: Tiles) -> Json:
    """Play an episode by a run's policy and one by its best actions in a world that renders pixels."""
    config = record.config
    machine = record.task.machine()
    episodes = []
    letters: set[int] = set()
    actions: tuple[str, ...] = ()
    for greedy in (False, True):
        env = config.world_kind.render(config.settings["world"], machine, "rgb_array", config.end)
        if env.render_mode != "rgb_array":
            raise NoPictureError(f"{config.world} renders no pixels")
        actions = action_names(env)
        start, end, steps = -1, "cut", []
        for pictures, played in film(trainer, env, SEED, greedy):
            numbers = [tiles.number(small(np.asarray(picture))) for picture in pictures]
            start = numbers[0] if start < 0 else start
            row = {**step_row(played, trainer.method.tracks_states), "frame": numbers[-1], **_guess(played)}
            letters |= {row["letter"], row.get("predicted", row["letter"])}
            steps.append(row)
            end = end_of(played, machine)
            if end != "cut" or len(steps) == MOST_PICTURES:
                break
        env.close()
        episodes.append({"greedy": greedy, "start": start, "end": end, "steps": steps})
    return {
        "seed": record.seed,
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


def _guess(played: Played) -> Json:
    """What the grounder takes the observation for; nothing for methods without one."""
    if played.said is None:
        return {}
    said = played.said[0]
    return {"predicted": int(said.argmax()), "sure": round(float(said.max()), 3)}
