"""What a formula says: in words, by traces, as a pattern, as a machine, and beside another formula."""

from nrm.explanations.comparison import Comparison, compare
from nrm.explanations.explanation import Explanation, explain
from nrm.explanations.recognition import recognised

__all__ = ["Comparison", "Explanation", "compare", "explain", "recognised"]
