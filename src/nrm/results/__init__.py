"""What comes out of runs: records, groups, scores, statistics and tables."""

from nrm.results.groups import Group, group_runs, method_named, method_order
from nrm.results.records import Record, read_record, read_records
from nrm.results.table import ResultRow, Scores, results_table, write_results

__all__ = [
    "Group",
    "Record",
    "ResultRow",
    "Scores",
    "group_runs",
    "method_named",
    "method_order",
    "read_record",
    "read_records",
    "results_table",
    "write_results",
]
