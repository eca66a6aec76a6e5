"""What a trained agent does and sees: episodes played from a run's folder, and the grounding cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nrm.agents import Played, Trainer, action_names, film, play
from nrm.aliases import Json
from nrm.envs import BatchedEnv
from nrm.errors import LimitError
from nrm.machines import MooreMachine
from nrm.report.animation import observed
from nrm.report.drawing import Tiles
from nrm.results import Group, Record
from nrm.runs import RunConfig, RunFolder
from nrm.shortcuts import Shortcuts, diagnose
from nrm.tracking import Belief

SEED = 12345
"""Of the episodes, and of the layout where one is drawn; as in `nrm watch`."""


@contextmanager
def noted(record: Record, problems: dict[Path, str], what: str = "no episode was played") -> Iterator[None]:
    """Note what goes wrong with a run: a damaged file or an environment of the user's must not cost the whole page."""
    try:
        yield
    except (Exception, SystemExit) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        problems.setdefault(record.path, f"{what}: {reason}")


Agents = list[tuple[Record, Trainer]]
"""Runs, and what they have learned."""


def load_agents(group: Group, count: int, problems: dict[Path, str]) -> Agents:
    """So many agents of a group that can be loaded, of its finished runs if there are any."""
    found: Agents = []
    for record in group.finished or group.records:
        if len(found) < count:
            with noted(record, problems):
                found.append((record, RunFolder(record.path).load_policy()))
    return found


def record_tasks(
    agents: Agents,
    machines: Mapping[int, MooreMachine],
    tiles: Tiles,
    problems: dict[Path, str],
    found: Shortcuts | None = None,
    belief: Belief | None = None,
) -> list[Json]:
    """Episodes of agents on tasks by their numbers, each in a layout of its own where layouts vary."""
    recordings: list[Json] = []
    for record, trainer in agents:
        with noted(record, problems):
            for number, machine in machines.items():
                played = record_task(record.config, trainer, machine, tiles, found, SEED + number, belief)
                recordings.append({"seed": record.seed, "formula": number, **played})
    return recordings


def record_task(
    config: RunConfig,
    trainer: Trainer,
    machine: MooreMachine,
    tiles: Tiles,
    found: Shortcuts | None,
    seed: int,
    belief: Belief | None,
) -> Json:
    """Play an episode of a task by an agent's policy and one by its best actions, and look at its grounder.

    On the environment's board where it has one, else as it renders itself. `belief`: what memories read, no rewards if
    absent.
    """
    board = config.env_config.board(machine, config.end, seed)
    grounding = None if board is None else ground_cells(trainer, board.env, found)
    actions: tuple[str, ...] = () if board is None else board.actions
    episodes = []
    for greedy in (False, True):
        if board is None:
            actions, episode = _film(config, trainer, machine, tiles, seed, greedy, belief)
        else:
            start = int(board.env.reset(seed)[0])  # playing begins with the same reset
            played = islice(play(trainer, board.env, seed, greedy, belief), 400)
            cells = (({"cell": int(shown.batch.final_observation[0])}, shown) for shown in played)
            episode = {"start": start, **_episode(cells, machine)}
        episodes.append({"greedy": greedy, **episode})
    steps = [step for episode in episodes for step in episode["steps"]]
    letters = {letter for step in steps for letter, _ in [*step.get("read", ()), (step["letter"], 1)]}
    shown: Json = {"filmed": True}
    if board is not None:
        letters |= {*board.letters, *(grounding["learned"] if grounding else ())}
        kept = ("width", "height", "drawn", "contents", "letters")
        shown = {name: getattr(board, name) for name in kept}
        shown["tiles"] = [[tiles.number(picture) for picture in pair] for pair in board.tiles]
    names = {letter: machine.alphabet.letter_name(letter) for letter in sorted(letters)}
    return {**shown, "names": names, "actions": actions, "grounding": grounding, "episodes": episodes}


def _film(
    config: RunConfig,
    trainer: Trainer,
    machine: MooreMachine,
    tiles: Tiles,
    seed: int,
    greedy: bool,
    belief: Belief | None,
) -> tuple[tuple[str, ...], Json]:
    """The names of actions, and an episode's first 120 steps as the environment renders: in pixels or in text.

    Of one that renders nothing, the observations.
    """
    env = config.render_env(machine, "rgb_array")
    start: list[int | str] = []

    def shots() -> Iterator[tuple[Json, Played]]:
        for pictures, played in islice(film(trainer, env, seed, greedy, belief, config.env), 120):
            frames = [_frame(picture, tiles) for picture in pictures] or [f"{config.env} renders nothing"]
            start.extend(frames[:1])
            yield {"frame": frames[-1] if pictures else observed(played)}, played

    episode = _episode(shots(), machine)
    actions = action_names(env)
    env.close()
    return actions, {"start": start[0], **episode}


def _frame(picture: Any, tiles: Tiles) -> int | str:
    """A text as it is, the number of a picture."""
    return picture if isinstance(picture, str) else tiles.number(small(np.asarray(picture)))


def _episode(played: Iterable[tuple[Json, Played]], machine: MooreMachine) -> Json:
    """An episode, a row for each step: what is shown of it, and what was done, read and believed.

    Its end is success, failure or limit; cut where it goes on.
    """
    steps, end = [], "cut"
    for place, shown in played:
        action = shown.action[0]
        beliefs = (("belief", shown.belief, 12), ("learned", shown.learned, 12), ("read", shown.said, 6))
        steps.append(
            {
                **place,
                "action": int(action) if action.dim() == 0 else ", ".join(f"{part:.3g}" for part in action.tolist()),
                "letter": int(shown.label[0]),
                "reward": round(float(shown.batch.reward[0]), 3),
                "state": int(shown.state[0]),
                **{name: _likely(shares[0], most) for name, shares, most in beliefs if shares is not None},
            }
        )
        if bool(shown.batch.terminated[0]):
            end = "success" if bool(machine.accepting[int(shown.state[0])]) else "failure"
        elif bool(shown.batch.truncated[0]):
            end = "limit"
        if end != "cut":
            break
    return {"end": end, "steps": steps}


def _likely(belief: Tensor, most: int) -> list[list[float]]:
    """The likeliest places of a distribution with their shares, as far as these can be seen."""
    shares = belief.numpy()
    order = np.argsort(-shares, kind="stable")[:most].tolist()
    return [[place, round(float(shares[place]), 3)] for place in order if shares[place] >= 5e-4]


def small(picture: NDArray[np.uint8], side: int = 160) -> NDArray[np.uint8]:
    """A picture (height, width, 3) with sides of at most `side`: means of squares, in few colours, which pack well."""
    height, width = picture.shape[:2]
    factor = -(-max(height, width) // side)
    if factor == 1:
        return picture
    cut = picture[: height // factor * factor, : width // factor * factor]
    blocks = cut.reshape(height // factor, factor, width // factor, factor, 3)
    means: NDArray[np.uint8] = blocks.mean((1, 3)).astype(np.uint8) // 8 * 8 + 3
    return means


def ground_cells(trainer: Trainer, env: BatchedEnv, found: Shortcuts | None) -> Json | None:
    """What the grounder takes each cell for, beside the truth; None where there is none, or a recurrent one."""
    cells = env.probe(0)
    said = None if trainer.model is None or cells is None else trainer.model.alone(cells.observations)
    if said is None or trainer.model is None or cells is None:
        return None
    truth = cells.letters
    sure, learned = trainer.model.letter_probs(said).max(-1)
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
