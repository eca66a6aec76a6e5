"""What rewards can teach about the meaning of symbols: shortcuts, exactly, and what to do about them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
