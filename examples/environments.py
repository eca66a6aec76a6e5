"""The pictures of the documentation's page on environments: `python examples/environments.py --out out/envs`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.image import imsave
from numpy.typing import NDArray

from nrm.envs import MinecraftEnv

GAP = 12


def picture(side: int, walk: tuple[int, ...] = (), seed: int = 0, **options: object) -> NDArray[np.uint8]:
    """What an agent sees after a walk, enlarged to `side` pixels without smoothing."""
    env = MinecraftEnv(observation="image", **options)
    seen, _ = env.reset(seed=seed)
    for action in walk:
        seen, *_ = env.step(action)
    times = side // len(seen)
    return seen.repeat(times, axis=0).repeat(times, axis=1)


def row(pictures: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Pictures side by side."""
    height = len(pictures[0])
    gap = np.full((height, GAP, 3), 255, dtype=np.uint8)
    parts = [part for each in pictures for part in (gap, each)][1:]
    return np.concatenate(parts, axis=1)


def main() -> None:
    """Draw all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/envs"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    walks = {"start": (), "pickaxe": (1, 2), "door": (1, 1, 1), "gem": (2, 2, 2), "lava": (1, 1, 1, 2, 2, 2)}
    imsave(out / "world-items.png", row([picture(192, walk) for walk in walks.values()]))
    imsave(out / "world-layouts.png", row([picture(192, layout="episode", start="random", seed=s) for s in range(5)]))
    others = ["key", "tree", "water", "wood", "iron", "gold", "gem", "lava"]
    options = [
        {"size": 6, "items": ["lava", "lava", "lava", "lava", "lava", "gem", "door", "pickaxe"], "pixels": 96},
        {"size": (6, 4), "items": others, "pixels": 96},
        {"size": 5, "items": others, "pixels": 96},
        {"size": 8, "items": [*others, "lava", "lava", "lava"], "pixels": 96},
        {"size": 8, "pixels": 64},
    ]
    imsave(out / "world-sizes.png", row([picture(192, layout="episode", seed=4, **each) for each in options]))
    print(f"wrote 3 pictures to {out}")


if __name__ == "__main__":
    main()
