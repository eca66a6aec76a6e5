"""What comes out of runs: records, groups, statistics and tables."""

from nrm.results.records import Record, read_record, read_records
from nrm.results.results import ResultRow, results_csv, results_markdown, results_table, write_results

__all__ = [
    "Record",
    "ResultRow",
    "read_record",
    "read_records",
    "results_csv",
    "results_markdown",
    "results_table",
    "write_results",
]
