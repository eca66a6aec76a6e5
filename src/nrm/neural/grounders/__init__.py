"""Symbol grounders: networks from an observation to symbol probabilities (paper, appendix, "Neural Networks").

A grounder is one file that registers one entry in `GROUNDERS`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
