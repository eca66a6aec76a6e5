"""Episodes of a trained agent together with what the environment renders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium
from gymnasium.wrappers import RenderCollection

from nrm.agents.evaluation import Played, play
from nrm.agents.training import Trainer
from nrm.envs import VectorWorld
from nrm.errors import WorldError
from nrm.tracking import Belief


class Shot(NamedTuple):
    """One step, and its pictures."""

    pictures: list[Any]
    """What was rendered, the last after the step; at the first step, one from before it too. None where nothing is."""
    played: Played


def film(
    trainer: Trainer, env: gymnasium.Env[Any, Any], seed: int, greedy: bool, belief: Belief | None = None
) -> Iterator[Shot]:
    """One episode of an environment with a task, to its end. `belief`: what beliefs read, as in training if absent."""
    camera = None if env.render_mode is None else RenderCollection(env, reset_clean=False)
    world = VectorWorld.of(lambda: env if camera is None else camera, 1)
    for played in _shown(play(trainer, world, seed, greedy, belief), env):
        pictures = [] if camera is None else list(camera.render())
        done = bool(played.done[0])
        # After an episode's end the next one has begun already, and was rendered.
        yield Shot(pictures[:-1] if done else pictures, played)
        if done:
            return


def _shown(steps: Iterator[Played], env: gymnasium.Env[Any, Any]) -> Iterator[Played]:
    """The steps; an error in words where an environment promises pictures and draws none."""
    try:
        yield from steps
    except NotImplementedError:
        raise WorldError(
            f"{env.unwrapped} says that it renders as '{env.render_mode}', but has no method render(); write one, or "
            "leave render_modes out of its metadata"
        ) from None


def action_names(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    """What an environment calls its actions, if it says so: its attribute `action_names`."""
    return tuple(map(str, env.get_wrapper_attr("action_names"))) if env.has_wrapper_attr("action_names") else ()
