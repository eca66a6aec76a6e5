"""Pictures of runs, for print: vector and PNG, colour-blind-safe, and readable in grey."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
