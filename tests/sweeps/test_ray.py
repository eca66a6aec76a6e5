"""The Ray engine on a real cluster: a worker is killed in mid-run, and the results are those of plain training."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nrm.errors import EngineError, MissingExtraError
from nrm.sweeps import run_grid
from nrm.sweeps.engines import Event, RayEngine, cluster
from tests.sweeps.grids import SMALL, Killer, events, metrics, reference

torch.set_num_threads(1)
needs_ray = pytest.mark.usefixtures("ray_module")


@pytest.fixture(scope="module")
def ray_module() -> object:
    return pytest.importorskip("ray", reason="Ray is not installed (extra [ray])")


@pytest.fixture(scope="module")
def address(ray_module: object) -> Iterator[str]:
    """A cluster of one CPU, which the engine finds by its address."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield made.address
    made.shutdown()  # type: ignore[no-untyped-call]


@needs_ray
@pytest.mark.filterwarnings("default")  # Ray's own warnings are not ours to mend
def test_interrupted_killed_and_still_the_same_results(tmp_path: Path, address: str) -> None:
    stop = False

    def stop_soon(event: Event) -> None:
        nonlocal stop
        stop = stop or event.kind == "progress"

    store = tmp_path / "grid"
    first = run_grid(SMALL, store, RayEngine(address=address), lambda cells, done: stop_soon, lambda: stop)
    assert first.interrupted
    killer, seen = Killer(), []

    def watch(event: Event) -> None:
        seen.append(event)
        killer(event)

    second = run_grid(SMALL, store, RayEngine(address=address, seconds=0.0), lambda cells, done: watch)
    assert (second.skipped, second.failed) == (first.done, {})
    assert killer.killed in {event.cell.name for event in seen if event.kind == "retried"}
    assert metrics(SMALL, store) == reference(SMALL, tmp_path / "reference")


@needs_ray
def test_an_address_where_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "HEALTH_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for wrong, message in (
            ("127.0.0.1:1", "no Ray cluster can be reached at '127.0.0.1:1'"),
            (f"127.0.0.1:{silent.getsockname()[1]}", "no answer in 2 seconds"),
            ("nonsense", "'nonsense' is no address of a Ray cluster"),
            ("ray://127.0.0.1:1", "is no address"),
        ):
            with pytest.raises(EngineError, match=message):
                list(events(RayEngine(address=wrong), SMALL, tmp_path))


def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"neural-reward-machines\[ray\]"):
        list(events(RayEngine(), SMALL, tmp_path))
