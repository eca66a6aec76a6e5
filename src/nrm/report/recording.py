"""What a trained agent does and sees: episodes played from a checkpoint, and the grounding cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nrm.agents import Played, Trainer, action_names, film, play
from nrm.aliases import Json
from nrm.envs import BatchedEnv
from nrm.errors import EnvError, FileError, LimitError
from nrm.machines import MooreMachine
from nrm.report.drawing import Tiles
from nrm.results import Record
from nrm.runs import RunConfig, RunFolder
from nrm.shortcuts import Shortcuts, diagnose
from nrm.tracking import Belief

SEED = 12345
"""Of the episodes, and of the layout where one is drawn; as in `nrm watch`."""
MAX_STATES = 12
"""States whose share of the belief is kept at a step, the likeliest first."""
MAX_LETTERS = 6
"""Letters whose share of what is read is kept at a step, the likeliest first."""
LEAST_SHARE = 5e-4
"""Of a belief that is kept."""


def step_row(shown: Played) -> Json:
    """Action, letter, reward, state reached, belief over states; what is read, and the state of a learned machine."""
    action = shown.action[0]
    row: Json = {
        "action": int(action) if action.dim() == 0 else ", ".join(f"{part:.3g}" for part in action.tolist()),
        "letter": int(shown.label[0]),
        "reward": round(float(shown.batch.reward[0]), 3),
        "state": int(shown.state[0]),
    }
    if shown.belief is not None:
        row["belief"] = _likely(shown.belief[0], MAX_STATES)
    if shown.learned is not None:
        row["learned"] = _likely(shown.learned[0], MAX_STATES)
    if shown.said is not None:
        row["read"] = _likely(shown.said[0], MAX_LETTERS)
    return row


def _likely(belief: Tensor, most: int) -> list[list[float]]:
    """The likeliest places of a distribution with their shares."""
    shares = belief.numpy()
    order = np.argsort(-shares, kind="stable")[:most].tolist()
    return [[place, round(float(shares[place]), 3)] for place in order if shares[place] >= LEAST_SHARE]


def end_of(shown: Played, machine: MooreMachine) -> str:
    """How an episode ended with a step: success, failure or limit; cut where it goes on."""
    if bool(shown.batch.terminated[0]):
        return "success" if bool(machine.accepting[int(shown.state[0])]) else "failure"
    return "limit" if bool(shown.batch.truncated[0]) else "cut"


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


MAX_STEPS = 400
"""Steps of an episode that are kept."""


def load_agent(record: Record) -> Trainer:
    """The agent of a run's checkpoint."""
    if not (record.path / "checkpoint.pt").exists():
        raise FileError(f"{record.path} has no checkpoint.pt, so no episode can be played")
    return RunFolder(record.path).load("cpu")


def record_task(
    config: RunConfig,
    trainer: Trainer,
    machine: MooreMachine,
    tiles: Tiles,
    found: Shortcuts | None = None,
    seed: int = SEED,
    belief: Belief | None = None,
) -> Json:
    """Play an episode of a task by an agent's policy and one by its best actions, and look at its grounder.

    On the environment's board where it has one, else as it renders itself. `belief`: what memories read, no rewards if
    absent.
    """
    board = config.env_config.board(machine, config.end, seed)
    if board is None:
        return film_task(config, trainer, machine, tiles, seed, belief)
    grounding = ground_cells(trainer, board.env, found)
    episodes = [play_once(trainer, board.env, greedy, seed, belief) for greedy in (False, True)]
    read = {letter for episode in episodes for step in episode["steps"] for letter, _ in step.get("read", ())}
    letters = {*board.letters, *read, *(grounding["learned"] if grounding else ())}
    return {
        "width": board.width,
        "height": board.height,
        "drawn": board.drawn,
        "contents": board.contents,
        "letters": board.letters,
        "names": {letter: board.env.machine.alphabet.letter_name(letter) for letter in sorted(letters)},
        "tiles": [[tiles.number(picture) for picture in pair] for pair in board.tiles],
        "actions": board.actions,
        "grounding": grounding,
        "episodes": episodes,
    }


def play_once(trainer: Trainer, env: BatchedEnv, greedy: bool, seed: int, belief: Belief | None = None) -> Json:
    """One episode, a row for each step: cell, action, letter read, reward, state reached, belief."""
    start = int(env.reset(seed)[0])  # playing begins with the same reset
    steps: list[Json] = []
    end = "cut"
    for shown in play(trainer, env, seed, greedy, belief):
        cell = int(shown.batch.final_observation[0])
        steps.append({"cell": cell, **step_row(shown)})
        end = end_of(shown, env.machine)
        if end != "cut" or len(steps) == MAX_STEPS:
            break
    return {"greedy": greedy, "start": start, "end": end, "steps": steps}


def ground_cells(trainer: Trainer, env: BatchedEnv, found: Shortcuts | None) -> Json | None:
    """What the grounder takes each cell for, beside the truth; None where there is none, or a recurrent one."""
    truth = env.true_labels()
    if trainer.model is None or trainer.model.recurrent or truth is None or env.frames is None:
        return None
    with torch.no_grad():
        probabilities = trainer.model.letter_probs(trainer.model.ground(env.frames, check=False))
    sure, learned = probabilities.max(-1)
    shown: Json = {
        "truth": truth.tolist(),
        "learned": learned.tolist(),
        "sure": [round(share, 3) for share in sure.tolist()],
        "verdicts": ["right" if a == b else "wrong" for a, b in zip(truth.tolist(), learned.tolist(), strict=True)],
        "meaning": "",
        "mirror": None,
    }
    if found is not None:
        shown |= _judged(found, env, truth.numpy(), learned.numpy())
    return shown


def _judged(found: Shortcuts, env: BatchedEnv, truth: Any, learned: Any) -> Json:
    """Each cell's verdict: right, alike (harmless), mirror (by a symmetry) or wrong; and what it all means."""
    confusion = np.zeros((found.alphabet.size, found.alphabet.size))
    np.add.at(confusion, (truth, learned), 1.0)
    try:
        diagnosis = diagnose(found, confusion)
    except LimitError:
        return {}
    number, image = found.machine.letter_class, np.array(diagnosis.symmetry)
    kept = number[truth] == number[learned]
    expected = image[number[truth]]
    verdicts = np.where(
        truth == learned,
        "right",
        np.where(expected != number[learned], "wrong", np.where(kept, "alike", "mirror")),
    )
    # States that rewards alone do not tell apart are merged in `found`; then no state has a mirror image to name.
    moved = diagnosis.symmetry != found.group.identity and found.machine.states == env.machine.states
    return {
        "verdicts": verdicts.tolist(),
        "meaning": diagnosis.meaning,
        "mirror": list(found.states_under(diagnosis.symmetry)) if moved else None,
    }
