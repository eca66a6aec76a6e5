"""What a trained agent does and sees: episodes played from a checkpoint, and the grounding cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nrm.agents import Trainer, play
from nrm.aliases import Json
from nrm.envs import BatchedEnv
from nrm.errors import FileError, LimitError
from nrm.machines import MooreMachine
from nrm.report.filming import film_task
from nrm.report.pictures import Tiles
from nrm.report.steps import SEED, end_of, step_row
from nrm.results import Record
from nrm.runs import RunConfig, RunFolder
from nrm.shortcuts import Shortcuts, diagnose
from nrm.tracking import Belief

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
