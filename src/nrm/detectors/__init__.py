"""Event detectors: symbols of recordings, learned from verdicts on whole recordings and a rule."""

from nrm.detectors.coverage import Coverage, SymbolPair, coverage
from nrm.detectors.detector import EventDetector, Judgement

__all__ = ["Coverage", "EventDetector", "Judgement", "SymbolPair", "coverage"]
