"""Training a run for longer than it was made for."""

from __future__ import annotations

from dataclasses import replace

from nrm.errors import ConfigError
from nrm.runs.config import RunConfig


def extended(config: RunConfig, total_episodes: int | None = None, total_timesteps: int | None = None) -> RunConfig:
    """The same run with more episodes or steps to go; it remembers the lengths that it was made for before.

    What changes in the course of training (step size, entropy) goes by the share that is over. So a run that
    was extended is not one that was made for the new length: it came down to the end of these schedules before.
    """
    given = {"episodes": total_episodes, "steps": total_timesteps}
    amount = given.pop(config.unit)
    if any(value is not None for value in given.values()):
        other = next(iter(given))
        raise ConfigError(f"the run counts {config.unit}, not {other}; say {config.length_option} N instead")
    if amount is None:
        return config
    if amount <= config.amount:
        raise ConfigError(
            f"the run is made for {config.amount:,} {config.unit} already, and {amount:,} are no more; say all that it "
            f"shall have in the end, such as {config.length_option} {2 * config.amount}"
        )
    before = (*config.extended, config.amount)
    if config.unit == "episodes":
        return replace(config, total_episodes=amount, extended=before)
    return replace(config, total_timesteps=amount, extended=before)
