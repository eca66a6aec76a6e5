"""`nrm studio`: a local page to type tasks, watch agents and follow runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec

from nrm.cli.options import FolderArgument


@dataclass(frozen=True, kw_only=True)
class Studio(FolderArgument):
    """Open a local page to type tasks, watch agents satisfy them, and follow runs.

    It shows the runs in a folder and nothing outside of it. Only this machine can reach it, with the printed address.

    For example:
      nrm studio
      nrm studio runs --port 9000
    """

    usual: ClassVar = {"folder": Path(".")}
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8600
    """Port of the page; 0 for any that is free."""

    def run(self) -> int:
        """Serve until interrupted."""
        from nrm.studio import serve

        serve(self.folder, self.port, trust=self.trust)
        return 0
