"""How the grounding is learned from rewards in between acting: what can be set."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nrm.errors import ConfigError
from nrm.neural import FitConfig, Maximisation, NeuralRewardMachine, Objective
from nrm.tracking.memories import Belief

TARGET = 0.003
"""Nats a step at which episodes count as explained, so that a burst ends or is skipped."""
RECURRENT_RESTARTS = 4
"""Most attempts of a burst for a recurrent grounder, where `em` teaches it directly."""


@dataclass(frozen=True)
class GroundingConfig:
    """How the grounding is learned from rewards in between acting."""

    every: int = 120
    """Episodes between two bursts of learning."""
    keep: int = 360
    """Most episodes that a burst learns from."""
    epochs: int = 400
    """Most epochs of a burst, in each attempt; a twentieth of it where observations are too many to list."""
    restarts: int | None = None
    """Most attempts of a burst, the first of which goes on from the present grounder; 32 of `em`, else 4, when absent.
    Where observations are too many to list, a burst is one attempt (at most four with a recurrent grounder), and the
    next one goes on from it."""
    learning_rate: float = 0.01
    """Adam's step size for the grounder; a third of it where observations are too many to list."""
    batch_size: int | None = None
    """Episodes in a mini-batch; when absent all, or 16 where observations are too many to list."""
    objective: Objective = "em"
    """What the grounder maximises, and how: see `FitConfig`; `marginal` is the paper's."""
    maximisation: Maximisation = "posterior"
    """What `em` teaches a network where observations are too many to list: see `FitConfig`."""
    grounder: str = "auto"
    """The network that grounds: a registered name, module:name, or auto, which goes by the observations."""
    initial: str | None = None
    """The folder of a run whose grounder to begin with, on the same symbols and observations."""
    learn: bool = True
    """Whether the grounder learns; without, that of `initial` stays as it is."""
    belief: Belief = "open"
    """What the policy's belief reads while training: the observations alone (open, as in the paper), likewise by the
    most probable symbol of each step (crisp), or the rewards received too (conditioned)."""
    longest: int | None = None
    """Steps of an episode that are learned from; all when absent. What comes later counts for no less, but a few very
    long episodes would make every burst as slow as if all were."""
    steady: bool = False
    """Whether every burst learns, as long as something is not explained, also where the last one brought little: for
    bursts of few epochs, that go on from each other."""
    spacing: float = 0.0
    """Least episodes from one look at new ones to the next, as a share of all so far: what has been learned in ten
    thousand episodes changes little in a hundred more. Those in between are passed over."""
    target: float = TARGET
    """Nats a step at which episodes count as explained, so that a burst ends or is skipped."""

    def __post_init__(self) -> None:
        for name in ("every", "keep", "epochs", "restarts", "learning_rate", "longest", "target"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise ConfigError(f"grounding.{name} must be positive, not {getattr(self, name)}")
        if self.spacing < 0:
            raise ConfigError(f"grounding.spacing is a share of all episodes, from 0, not {self.spacing}")

    def fit_config(self, seed: int, listed: bool, recurrent: bool = False) -> FitConfig:
        """How one burst learns; `listed`: whether all observations of the environment are known and few.

        Otherwise there may be thousands of distinct ones in a burst. Descent then takes mini-batches, so many small
        steps in every epoch, and one attempt; expectation-maximisation sees by itself what it has to do with.
        `recurrent`: whether the grounder is, whose first attempt often ends in a local optimum.
        """
        config = FitConfig(
            objective=self.objective,
            maximisation=self.maximisation,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            restarts=self.restarts or (32 if self.objective == "em" else 4),
            network_restarts=RECURRENT_RESTARTS if recurrent else 1,
            patience=max(20, self.epochs // 4),
            target=self.target,
            seed=seed,
        )
        if listed or self.objective == "em":
            return config
        return replace(
            config,
            epochs=max(1, self.epochs // 20),
            learning_rate=self.learning_rate / 3,
            batch_size=self.batch_size or 16,
            restarts=1,
        )


def burst_settings(model: object, every: int, keep: int, config: FitConfig | None, seed: int) -> FitConfig:
    """How bursts learn where observations are without end: as `config` says, or by default; checked."""
    if every < 1 or keep < 1:
        raise ConfigError(f"every and keep count episodes, at least 1; they are {every} and {keep}")
    if config is not None and not isinstance(config, FitConfig):
        raise ConfigError(f"config must be a FitConfig, such as nrm.FitConfig(epochs=100), not {config!r}")
    recurrent = isinstance(model, NeuralRewardMachine) and model.recurrent
    return config or GroundingConfig().fit_config(seed, listed=False, recurrent=recurrent)
