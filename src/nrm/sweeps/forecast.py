"""How long a grid still takes, judged by what its episodes have cost so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nrm.sweeps.engines.events import Event
from nrm.sweeps.grid import Cell


@dataclass
class _Pace:
    """Seconds and episodes seen of one kind of cell."""

    seconds: float = 0.0
    episodes: int = 0


class Forecast:
    """Takes in events with their times. Cells of a world and method cost alike; unseen kinds are taken for average."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._left = {cell.name: cell.config.episodes for cell in cells}
        self._kinds = {cell.name: cell.kind for cell in cells}
        self._paces = {cell.kind: _Pace() for cell in cells}
        self._running: dict[str, tuple[float, int | None]] = {}
        """For each cell under way: when it was last heard of, and its episodes then, if known."""

    def add(self, event: Event, now: float) -> None:
        """Take in an event at a time in seconds."""
        name, total = event.cell.name, event.cell.config.episodes
        if event.kind == "begun":
            self._running[name] = (now, None)
        elif event.kind in ("progress", "done") and name in self._running:
            before, episodes = self._running[name]
            reached = total if event.kind == "done" else event.episodes
            # Where a resumed cell went on is known from its first progress only: the time before is not counted.
            if episodes is not None or event.kind == "done":
                pace = self._paces[event.cell.kind]
                pace.seconds += now - before
                pace.episodes += reached - (episodes or 0)
            self._left[name] = total - reached
            self._running[name] = (now, reached)
        if event.kind in ("done", "saved", "failed", "retried"):
            self._running.pop(name, None)
        if event.kind in ("done", "failed", "saved"):
            self._left[name] = 0

    def seconds_left(self) -> float | None:
        """An estimate, or None before anything is known."""
        known = [pace for pace in self._paces.values() if pace.episodes > 0]
        if not known:
            return None
        average = sum(pace.seconds for pace in known) / sum(pace.episodes for pace in known)
        work = 0.0
        for name, episodes in self._left.items():
            pace = self._paces[self._kinds[name]]
            work += episodes * (pace.seconds / pace.episodes if pace.episodes > 0 else average)
        return work / max(1, len(self._running))
