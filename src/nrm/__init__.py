"""Neural Reward Machines: reinforcement learning from temporal-logic tasks, without labelled symbols.

The names in `__init__.pyi` are the public interface; the modules behind them may move. What needs torch or Gymnasium is
imported when it is first asked for.
"""

from pathlib import Path as _Path

import lazy_loader as _lazy_loader

from nrm.machines import compile_formula as compile  # noqa: A004, F401 - reads as nrm.compile(...)
from nrm.registration import register_envs_when_used as _register_envs_when_used
from nrm.shortcuts import shortcuts  # noqa: F401 - the function, where the package has the same name

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
_packages = {path.parent.name for path in _Path(__file__).parent.glob("*/__init__.py")} - {"shortcuts"}
__all__ = sorted({*__all__, "__version__", "compile"} - {"compile_formula", *_packages})

_register_envs_when_used()
