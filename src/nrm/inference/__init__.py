"""Learning a machine from what was read and what was paid: state merging on letters that count."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
