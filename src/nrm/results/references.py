"""Returns to hold runs against: what the best policies without memory earn on the same task in the same environment."""

from __future__ import annotations

from nrm.envs import WithoutMemory
from nrm.errors import NrmError
from nrm.machines import task_from_toml
from nrm.results.records import Record


def without_memory(record: Record) -> WithoutMemory | None:
    """Of a run's task and environment; None where nobody can compute it, or every episode has another task."""
    config = record.config
    try:
        env = config.env_config
    except NrmError:  # the module that the environment comes from is gone
        return None
    if config.tasks is not None:
        return None
    return env.without_memory(task_from_toml(config.task, "the run's task").machine(), config.end)
