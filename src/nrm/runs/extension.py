"""Training a run for longer than it was made for."""

from __future__ import annotations

from dataclasses import replace

from nrm.errors import ConfigError
from nrm.runs.config import RunConfig


def extended(config: RunConfig, episodes: int | None = None, steps: int | None = None) -> RunConfig:
    """The same run with more episodes or steps to go; it remembers the lengths that it was made for before.

    What changes in the course of training (step size, entropy) goes by the share that is over. So a run that
    was extended is not one that was made for the new length: it came down to the end of these schedules before.
    """
    given = {"episodes": episodes, "steps": steps}
    amount = given.pop(config.unit)
    if any(value is not None for value in given.values()):
        other = next(iter(given))
        raise ConfigError(f"the run counts {config.unit}, not {other}; say --{config.unit} N in place of --{other}")
    if amount is None:
        return config
    if amount <= config.amount:
        raise ConfigError(
            f"the run is made for {config.amount:,} {config.unit} already, and {amount:,} are no more; say all that it "
            f"shall have in the end, such as --{config.unit} {2 * config.amount}"
        )
    before = (*config.extended, config.amount)
    if config.unit == "episodes":
        return replace(config, episodes=amount, extended=before)
    return replace(config, steps=amount, extended=before)
