from .write import write_figures as write_figures
