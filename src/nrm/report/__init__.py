"""One self-contained page about the runs in a folder."""

from nrm.report.building import build_report, write_report
from nrm.report.page import Page

__all__ = ["Page", "build_report", "write_report"]
