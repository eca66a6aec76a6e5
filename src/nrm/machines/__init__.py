"""Moore machines whose outputs are rewards: alphabets, tasks, rewards, equivalence, files and pictures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
