"""Results that are committed: a file for each headline, with a row for each run and a summary of the rows.

`benchmarks/results/NAME.json` holds `name`, `command`, `machine`, `seeds`, `rows` and `summary`. A row is a flat record
of one run: its `key`, what was run (such as `method`, `task`, `seed`), the scores, and `source`, a digest of the code
that made it. Rows are written as they come, and those that are there are not made again; the summary is written last.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import nrm
from benchmarks.common import processor_seconds, report
from nrm.files import read_json, write_text
from nrm.results.statistics import bootstrap, interquartile_mean

RESULTS = Path(__file__).parent / "results"
TESTSETS = os.environ.get("NRM_TESTSETS")
"""A folder of published test sets that are not part of the repository, such as `letter-maps.json`; None without one."""
Row = dict[str, Any]
Jobs = Mapping[str, tuple[Any, ...]]
"""Arguments of each run, by the key of its row. The key names all that the row depends on."""


class Headline(NamedTuple):
    """What a results file is called, how it is made, and how its rows are summarised."""

    name: str
    command: str
    """What makes the file again."""
    scores: tuple[str, ...]
    """Columns that are summarised."""
    by: tuple[str, ...] = ("method",)
    """Columns whose values make the groups of the summary."""
    stratum: str = "task"
    """The column within which the bootstrap resamples runs; rows without it are one stratum."""
    derived: Callable[[Sequence[Row]], Mapping[str, Any]] | None = None
    """Further numbers from the rows, such as ratios of two groups; they stand in the summary under `derived`."""


class Benchmark(NamedTuple):
    """A headline and the runs behind it: what a benchmark lists in `BENCHMARKS` for `python -m benchmarks.headline`."""

    headline: Headline
    jobs: Callable[[Sequence[int]], Jobs]
    """The runs of some seeds."""
    run: Callable[..., Mapping[str, Any]]
    """What makes one row."""
    seeds: tuple[int, ...] = (4000, 4001, 4002, 4003, 4004)
    """Those that are reported; no setting was chosen on them."""


def complete(
    headline: Headline, jobs: Jobs, run: Callable[..., Mapping[str, Any]], workers: int = 1, folder: Path = RESULTS
) -> dict[str, Any]:
    """The results file with a row for every job, also on disk; `run` is called for rows that are missing.

    `workers`: processes side by side; `run` is then a function of a module. One program at a time may write a file.
    """
    path = folder / f"{headline.name}.json"
    rows: dict[str, Row] = {row["key"]: row for row in read_json(path)["rows"]} if path.exists() else {}
    missing = {key: arguments for key, arguments in jobs.items() if key not in rows}
    for key, row in _made(missing, run, workers):
        rows[key] = {"key": key, **_plain(row), "source": source()}
        print(json.dumps(rows[key]), flush=True)
        _write(headline, list(rows.values()), {}, folder)
    found = list(rows.values())
    summary: dict[str, Any] = summarise(found, headline.scores, headline.by, headline.stratum)
    if headline.derived is not None:
        summary["derived"] = _plain(headline.derived(found))
    return _write(headline, found, summary, folder)


def _write(headline: Headline, rows: Sequence[Row], summary: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write a results file, a line for each row, whole or not at all; what it holds."""
    data = {
        "name": headline.name,
        "command": headline.command,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "seeds": sorted({row["seed"] for row in rows if "seed" in row}),
        "rows": list(rows),
        "summary": summary,
    }
    texts = {name: json.dumps(value, allow_nan=False) for name, value in data.items()}
    texts["rows"] = "[\n  " + ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows) + "\n ]"
    lines = [
        f'  "{group}": {{\n   ' + ",\n   ".join(f'"{name}": {json.dumps(one)}' for name, one in of.items()) + "\n  }"
        for group, of in summary.items()
    ]
    texts["summary"] = "{\n" + ",\n".join(lines) + "\n }"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{headline.name}.json", _joined(texts))
    return data


def show(data: Mapping[str, Any], out: Path) -> None:
    """Print the summary of a results file, and write it to `out/NAME.md`: means with their intervals."""
    groups = {name: of for name, of in data["summary"].items() if name != "derived"}
    scores = list(dict.fromkeys(score for of in groups.values() for score in of))
    rows = [
        (name, max(one["runs"] for one in of.values()), *(_shown(of.get(score)) for score in scores))
        for name, of in groups.items()
    ]
    report(f"{data['name']}, seeds {data['seeds']}", ("", "runs", *scores), rows, out, data["name"])
    print(*(f"{name}: {value}" for name, value in data["summary"].get("derived", {}).items()), sep="\n")


def _shown(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return ""
    low, high = one["interval"]
    return f"{one['mean']:.4g}" + (f" [{low:.4g}, {high:.4g}]" if low < high else "")


def summarise(
    rows: Sequence[Row], scores: Sequence[str], by: Sequence[str] = ("method",), stratum: str = "task"
) -> dict[str, dict[str, dict[str, Any]]]:
    """Of every group and score: runs, mean and interquartile mean with 95 % stratified bootstrap intervals, and more.

    A score that is 0 or 1 in every run also has the `count` of ones. Where the stratum is among the columns of `by`
    there are also the groups of all strata together. Runs without a score are left out; they count in no mean.
    """
    groups: dict[str, list[Row]] = {}
    for columns in dict.fromkeys((tuple(name for name in by if name != stratum), tuple(by))):
        for row in rows:
            groups.setdefault(" ".join(str(row[name]) for name in columns) or "all", []).append(row)
    found = {
        group: {
            score: _summary([row for row in mine if row.get(score) is not None], score, stratum) for score in scores
        }
        for group, mine in groups.items()
    }
    return {group: {score: one for score, one in of.items() if one} for group, of in found.items()}


def beside_rm(scores: Sequence[str], rows: Sequence[Row]) -> dict[str, float]:
    """Scores of every task and method as shares of RM's, over the seeds that both have."""
    runs = {(row["task"], row["method"], row["seed"]): row for row in rows}
    sums: dict[str, list[float]] = {}
    for (task, method, seed), row in runs.items():
        base = runs.get((task, "rm", seed))
        if base is None or method == "rm":
            continue
        for score in scores:
            both = sums.setdefault(f"{task} {method}, {score} / RM's", [0.0, 0.0])
            both[:] = both[0] + row[score], both[1] + base[score]
    return {name: mine / base for name, (mine, base) in sums.items() if base}


def _summary(rows: Sequence[Row], score: str, stratum: str) -> dict[str, Any]:
    strata: dict[Any, list[float]] = {}
    for row in rows:
        strata.setdefault(row.get(stratum), []).append(float(row[score]))
    if not strata:
        return {}
    values = [np.array(runs) for runs in strata.values()]
    pooled = np.concatenate(values)
    mean = bootstrap(values, lambda runs: runs.mean(-1), np.random.default_rng(0))
    middle = bootstrap(values, interquartile_mean, np.random.default_rng(0))
    numbers = {
        **({"count": int(pooled.sum())} if set(pooled) <= {0.0, 1.0} else {}),
        "mean": mean.estimate,
        "interval": [mean.low, mean.high],
        "iqm": middle.estimate,
        "iqm_interval": [middle.low, middle.high],
        "median": np.median(pooled),
        "min": pooled.min(),
        "max": pooled.max(),
    }
    return {"runs": len(pooled), **_plain(numbers)}


@cache
def source() -> str:
    """A digest of the library's source: rows with the same one were made by the same code."""
    root = Path(nrm.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _made(jobs: Jobs, run: Callable[..., Mapping[str, Any]], workers: int) -> Iterator[tuple[str, Row]]:
    if workers <= 1:
        yield from ((key, _timed(run, arguments)) for key, arguments in jobs.items())
        return
    with ProcessPoolExecutor(workers) as pool:
        futures = {pool.submit(_timed, run, arguments): key for key, arguments in jobs.items()}
        yield from ((futures[future], future.result()) for future in as_completed(futures))


def _timed(run: Callable[..., Mapping[str, Any]], arguments: tuple[Any, ...]) -> Row:
    """What the run says, and the CPU seconds that it took in all where it does not say `cpu_seconds` itself."""
    import torch

    torch.set_num_threads(1)
    began = processor_seconds()
    row = run(*arguments)
    return {"cpu_seconds": processor_seconds() - began, **row}


def _plain(value: Any) -> Any:
    """Values as JSON has them: six digits after the point, and None for what is not a number."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(one) for one in value]
    if isinstance(value, (float, np.floating)):
        return round(float(value), 6) + 0.0 if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def _joined(texts: Mapping[str, str]) -> str:
    return "{\n" + ",\n".join(f' "{name}": {text}' for name, text in texts.items()) + "\n}\n"
