"""What the tests of environments share."""

from __future__ import annotations

from typing import Any

import nrm
from nrm.envs import MINECRAFT_SYMBOLS, MinecraftConfig


def paper_machine(number: int = 1, reward: str = "distance") -> nrm.MooreMachine:
    return nrm.compile(nrm.logic.paper_task(number).formula(MINECRAFT_SYMBOLS), MINECRAFT_SYMBOLS, reward=reward)


CONFIGS: dict[str, dict[str, Any]] = {
    "paper": {},
    "image": {"observation": "image"},
    "slip": {"slip": 0.3},
    "random-start": {"start": "random", "steps": 7},
    "random-start-slip-image": {"start": "random", "slip": 0.5, "observation": "image", "steps": 9},
    "wide": {"size": (6, 4), "observation": "image", "steps": 30},
    "items": {"items": ["lava@1,0", "lava@2,2", "gem@3,1"], "start": (0, 3)},
    "layout-episode-image": {"layout": "episode", "observation": "image", "steps": 12},
    "layout-episode-map": {"layout": "episode", "slip": 0.2, "steps": 12},
    "layout-episode-random": {"layout": "episode", "start": "random", "size": 5, "observation": "image", "steps": 12},
    "partly-drawn": {"layout": "episode", "items": ["gem@3,3", "lava", "lava", "lava", "door"], "steps": 20},
    "one-step": {"steps": 1, "start": "random"},
}


def config(name: str) -> MinecraftConfig:
    return MinecraftConfig(**CONFIGS[name])
