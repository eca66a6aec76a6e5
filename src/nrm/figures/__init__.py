"""Pictures of runs and of groundability, for print: vector and PNG, colour-blind-safe, and readable in grey."""

from nrm.figures.write import write_figures, write_groundability

__all__ = ["write_figures", "write_groundability"]
