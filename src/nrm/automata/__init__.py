"""Finite automata: letters in classes, moves as tables or decision diagrams, products, minimisation, equivalence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
