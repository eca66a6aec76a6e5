"""Event detectors: symbols of recordings, learned from verdicts on whole recordings and a rule."""

from nrm.detectors.coverage import Coverage, Told, coverage
from nrm.detectors.detector import EventDetector, Judgement

__all__ = ["Coverage", "EventDetector", "Judgement", "Told", "coverage"]
