"""What follows a machine through episodes while somebody acts: memories, recorder, grounding updates, accuracy."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
