"""The Gymnasium ids of our worlds. Apart, so that to register them imports neither torch nor the worlds."""

from __future__ import annotations

import sys

MINECRAFT_ID = "nrm/Minecraft-v0"


def register_worlds() -> None:
    """Make our worlds known to `gymnasium.make`; to do so twice does no harm.

    `import nrm.envs` does it, and so does `import nrm` once Gymnasium has been imported.
    """
    import gymnasium

    if MINECRAFT_ID not in gymnasium.registry:
        gymnasium.register(id=MINECRAFT_ID, entry_point="nrm.envs.minecraft.env:MinecraftEnv")


def register_worlds_when_used() -> None:
    """The same where somebody has imported Gymnasium already; `import nrm` alone does not import it."""
    if "gymnasium" in sys.modules:
        register_worlds()
