"""What `nrm.neural` offers, and that it is imported only when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import nrm.neural


def test_public_names_exist() -> None:
    for name in nrm.neural.__all__:
        assert getattr(nrm.neural, name) is not None
    assert dir(nrm.neural) == sorted(nrm.neural.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        nrm.neural.Nothing  # noqa: B018


def test_the_configuration_of_learning_needs_no_pytorch() -> None:
    code = "import sys; from nrm.neural import FitConfig; FitConfig(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
