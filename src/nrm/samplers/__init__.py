"""Distributions of tasks: samplers of formulas, from which one agent learns to satisfy unseen ones.

A sampler is one frozen dataclass that is registered in `SAMPLERS`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
