from .write import write_figures as write_figures, write_groundability as write_groundability
