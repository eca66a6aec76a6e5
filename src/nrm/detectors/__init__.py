"""Event detectors: symbols of recordings, learned from verdicts on whole recordings and a rule."""

from nrm.detectors.coverage import FEW, Coverage, SymbolPair, coverage
from nrm.detectors.detector import EventDetector
from nrm.detectors.judging import Judgement

__all__ = ["FEW", "Coverage", "EventDetector", "Judgement", "SymbolPair", "coverage"]
