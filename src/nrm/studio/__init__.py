"""A local page to type tasks, watch agents satisfy them, and follow runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
