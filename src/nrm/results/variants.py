"""Runs with different settings told apart, whether a grid named their variants or somebody made them by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from nrm.results.records import Record


def variant_labels(records: Sequence[Record]) -> list[str]:
    """For each run the variant it names, and the settings in which it differs from the usual one of its kind.

    Runs that somebody made with other settings by hand must not be averaged with the rest.
    """
    usual: dict[tuple[str, str], dict[str, str]] = {}
    for kind in dict.fromkeys((record.world, record.variant) for record in records):
        chosen = [_settings(record) for record in records if (record.world, record.variant) == kind]
        (most, _), *_ = Counter(tuple(settings.items()) for settings in chosen).most_common(1)
        usual[kind] = dict(most)
    labels = []
    for record in records:
        common = usual[record.world, record.variant]
        changes = [f"{name}={value}" for name, value in _settings(record).items() if common.get(name) != value]
        labels.append(", ".join(filter(None, (record.variant, *changes))))
    return labels


def _settings(record: Record) -> dict[str, str]:
    """Every setting as text. What a world's name tells already is left out."""
    config = record.config
    settings: dict[str, Any] = {"algorithm": config.algorithm, "environments": config.environments, "end": config.end}
    settings["episodes"] = config.episodes
    for section, values in config.settings.items():
        told = config.world_kind.titled if section == "world" else ()
        settings |= {f"{section}.{name}": value for name, value in asdict(values).items() if name not in told}
    return {name: str(value) for name, value in settings.items()}
