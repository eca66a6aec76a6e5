"""Episodes of a trained agent together with what the environment renders."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium
from gymnasium.wrappers import RenderCollection

from nrm.agents.evaluation import Played, play
from nrm.agents.training import Trainer
from nrm.envs import GymVectorEnv
from nrm.errors import NrmWarning
from nrm.tracking import Belief


class Shot(NamedTuple):
    """One step, and its pictures."""

    pictures: list[Any]
    """What was rendered, the last after the step; at the first step, one from before it too. None where nothing is."""
    played: Played


def film(
    trainer: Trainer,
    env: gymnasium.Env[Any, Any],
    seed: int,
    greedy: bool,
    belief: Belief | None = None,
    name: str = "the environment",
) -> Iterator[Shot]:
    """One episode of an environment with a task, to its end.

    `belief`: what memories read, no rewards if absent. `name`: of the environment, for a warning where it promises
    pictures and draws none.
    """
    camera = None if env.render_mode is None else RenderCollection(_Drawn(env, name), reset_clean=False)
    batched = GymVectorEnv.of(lambda: env if camera is None else camera, 1)
    for played in play(trainer, batched, seed, greedy, belief):
        pictures = [] if camera is None else list(camera.render())
        done = bool(played.done[0])
        # After an episode's end the next one has begun already, and was rendered.
        drawn = [picture for picture in (pictures[:-1] if done else pictures) if picture is not None]
        yield Shot(drawn, played)
        if done:
            return


class _Drawn(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose pictures are None, with a warning, where it promises some and draws none."""

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
        super().__init__(env)
        self._name = name
        self._warned = False

    def render(self) -> Any:
        """The picture, if there is one."""
        try:
            picture: Any = self.env.render()
        except NotImplementedError:
            picture = None
        if picture is None and not self._warned:
            self._warned = True
            warnings.warn(
                f"{self._name} says that it renders as '{self.render_mode}', but its render() draws nothing; write "
                "one, or leave render_modes out of its metadata",
                NrmWarning,
                stacklevel=2,
            )
        return picture


def action_names(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    """What an environment calls its actions, if it says so: its attribute `action_names`."""
    return tuple(map(str, env.get_wrapper_attr("action_names"))) if env.has_wrapper_attr("action_names") else ()
