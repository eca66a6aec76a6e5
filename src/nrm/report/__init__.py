"""One self-contained page about the runs in a folder."""

from nrm.report.building import Report, build_report, write_report

__all__ = ["Report", "build_report", "write_report"]
