from .groundability import (
    GroundabilityRow as GroundabilityRow,
    groundability_markdown as groundability_markdown,
    measure_groundability as measure_groundability,
)
from .groups import (
    Group as Group,
    group_runs as group_runs,
    method_named as method_named,
    method_order as method_order,
    without_memory as without_memory,
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
    performance_profile as performance_profile,
    probability_of_improvement as probability_of_improvement,
)
from .table import (
    ResultRow as ResultRow,
    results_table as results_table,
    scores_of as scores_of,
    write_results as write_results,
)
