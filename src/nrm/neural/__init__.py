"""The neural reward machine: a differentiable Moore machine on probabilistic symbols, any part known or learned.

Names are imported when they are first asked for: how to learn can be said without PyTorch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
