"""The Gymnasium ids of our environments. Apart, so that to register them imports neither torch nor the environments."""

from __future__ import annotations

import sys

ENTRY_POINTS = {
    "nrm/Minecraft-v0": "nrm.envs.minecraft.env:MinecraftEnv",
    "nrm/Plane-v0": "nrm.envs.plane.env:PlaneEnv",
    "nrm/Zones-v0": "nrm.envs.zones:ZonesEnv",
    "nrm/Office-v0": "nrm.envs.office:OfficeEnv",
    "nrm/Water-v0": "nrm.envs.water:WaterEnv",
    "nrm/GoldMining-v0": "nrm.envs.gold_mining:GoldMiningEnv",
    "nrm/Letters-v0": "nrm.envs.letter.env:LetterEnv",
}


def register_envs() -> None:
    """Make our environments known to `gymnasium.make`; to do so twice does no harm.

    `import nrm.envs` does it, and so does `import nrm` once Gymnasium has been imported.
    """
    import gymnasium

    for name, entry_point in ENTRY_POINTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=entry_point)


def register_envs_when_used() -> None:
    """The same where somebody has imported Gymnasium already; `import nrm` alone does not import it."""
    if "gymnasium" in sys.modules:
        register_envs()
