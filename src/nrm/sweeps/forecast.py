"""How long a grid still takes, judged by what its episodes and steps have cost so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nrm.sweeps.engines.events import Event
from nrm.sweeps.grid import Cell


@dataclass
class _Pace:
    """Seconds, and episodes or steps, seen of one kind of cell."""

    unit: str
    seconds: float = 0.0
    amount: int = 0


class Forecast:
    """Takes in events with their times. Cells of a kind cost alike; unseen kinds are taken for average."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._left = {cell.name: cell.config.amount for cell in cells}
        self._kinds = {cell.name: cell.kind for cell in cells}
        self._paces = {cell.kind: _Pace(cell.config.unit) for cell in cells}
        self._running: dict[str, tuple[float, int | None]] = {}
        """For each cell under way: when it was last heard of, and what it had reached then, if known."""

    def add(self, event: Event, now: float) -> None:
        """Take in an event at a time in seconds."""
        name, total = event.cell.name, event.cell.config.amount
        if event.kind == "begun":
            self._running[name] = (now, None)
        elif event.kind in ("progress", "done") and name in self._running:
            before, amount = self._running[name]
            reached = total if event.kind == "done" else event.reached
            # Where a resumed cell went on is known from its first progress only: the time before is not counted.
            if amount is not None or event.kind == "done":
                pace = self._paces[event.cell.kind]
                pace.seconds += now - before
                pace.amount += reached - (amount or 0)
            self._left[name] = max(0, total - reached)
            self._running[name] = (now, reached)
        if event.kind in ("done", "saved", "failed", "retried"):
            self._running.pop(name, None)
        if event.kind in ("done", "failed", "saved"):
            self._left[name] = 0

    def seconds_left(self) -> float | None:
        """An estimate, or None before anything is known of what is left: episodes, or steps."""
        work = 0.0
        for name, amount in self._left.items():
            pace = self._paces[self._kinds[name]]
            alike = [pace] if pace.amount > 0 else [one for one in self._paces.values() if one.unit == pace.unit]
            seen = sum(one.amount for one in alike)
            if amount and not seen:
                return None
            work += amount * sum(one.seconds for one in alike) / max(1, seen)
        return work / max(1, len(self._running))
