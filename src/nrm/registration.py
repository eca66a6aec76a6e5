"""The Gymnasium ids of our environments. Apart, so that to register them imports neither torch nor the environments."""

from __future__ import annotations

import sys

MINECRAFT_ID = "nrm/Minecraft-v0"
PLANE_ID = "nrm/Plane-v0"
LETTERS_ID = "nrm/Letters-v0"
ENTRY_POINTS = {
    MINECRAFT_ID: "nrm.envs.minecraft.env:MinecraftEnv",
    PLANE_ID: "nrm.envs.plane.env:PlaneEnv",
    LETTERS_ID: "nrm.envs.letter.env:LetterEnv",
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
