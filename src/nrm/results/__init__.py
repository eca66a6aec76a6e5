"""What comes out of runs: records, groups, scores, statistics and tables."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
