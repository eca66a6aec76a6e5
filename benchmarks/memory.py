"""Memory of a long run of many tasks: resident megabytes after each part of it, with checkpoints on the way.

    python -m benchmarks.memory --timesteps 1000000 --out out/bench

The first tenth is left out: caches fill, and the first checkpoint is made.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

import torch

from nrm.agents import Trainer
from nrm.runs import RunFolder, choose_run, train


def resident() -> float:
    """Megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Train, look, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timesteps", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    seen: dict[int, float] = {}

    def look(now: Trainer) -> None:
        part = 20 * now.steps // asked.timesteps
        if part >= 2 and part not in seen:
            seen[part] = round(resident(), 1)
            print(f"{now.steps:,} steps: {seen[part]} MB", flush=True)

    config = choose_run(None, "letter", "rm", tasks="mixture", total_timesteps=asked.timesteps)
    with tempfile.TemporaryDirectory() as made:
        folder = RunFolder(Path(made) / "run")
        train(folder, folder.begin(config), seconds=5, progress=look)
    megabytes = list(seen.values())
    growth = max(megabytes) / min(megabytes) - 1
    asked.out.mkdir(parents=True, exist_ok=True)
    result = {"timesteps": asked.timesteps, "megabytes": megabytes, "growth": round(growth, 4)}
    (asked.out / "memory.json").write_text(json.dumps(result, indent=2) + "\n")
    print(f"memory grows by {growth:.1%}")


if __name__ == "__main__":
    main()
