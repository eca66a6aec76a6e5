"""What `nrm.neural` offers, and that it is imported only when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import nrm.neural


def test_public_names_exist() -> None:
    names = vars(nrm.neural)["__all__"]
    for name in names:
        assert getattr(nrm.neural, name) is not None
    assert sorted(dir(nrm.neural)) == sorted(names)
    with pytest.raises(AttributeError, match="Nothing"):
        nrm.neural.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_configuration_of_learning_needs_no_pytorch() -> None:
    code = "import sys; from nrm.neural import FitConfig; FitConfig(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
