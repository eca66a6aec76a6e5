"""Returns to hold runs against: what the best policies without memory earn on the same task in the same environment."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from nrm.envs import ENVS
from nrm.envs.registry import WithoutMemory
from nrm.envs.termination import End
from nrm.errors import NrmError
from nrm.machines import task_from_toml
from nrm.results.records import Record


def without_memory(record: Record) -> WithoutMemory | None:
    """Of a run's task and environment; None where nobody can compute it, or every episode has another task."""
    config = record.config
    try:
        kind = config.env_kind
    except NrmError:  # the module that the environment comes from is gone
        return None
    if config.tasks is not None or kind.without_memory is None:
        return None
    return _computed(kind.name, config.settings["env"], config.task, config.end)


@lru_cache(maxsize=256)
def _computed(kind: str, env: Any, task: str, end: End) -> WithoutMemory | None:
    compute = ENVS[kind].without_memory
    assert compute is not None
    return compute(env, task_from_toml(task, "the run's task").machine(), end)
