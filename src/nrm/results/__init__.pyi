from .groups import (
    Group as Group,
    group_runs as group_runs,
    method_named as method_named,
    method_order as method_order,
)
from .records import (
    ACCURACIES as ACCURACIES,
    Record as Record,
    read_record as read_record,
    read_records as read_records,
)
from .statistics import (
    Interval as Interval,
    Spread as Spread,
    Strata as Strata,
    Values as Values,
    iqm as iqm,
    moving_mean as moving_mean,
)
from .table import (
    ResultRow as ResultRow,
    results_table as results_table,
    scores_of as scores_of,
    write_results as write_results,
)
