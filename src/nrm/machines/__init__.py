"""Moore machines whose outputs are rewards: alphabets, tasks, rewards, equivalence, files and pictures."""

from nrm.machines.alphabet import Alphabet
from nrm.machines.drawing import Picture, draw, render, text_picture
from nrm.machines.formats.dot import colour, graphviz, to_dot
from nrm.machines.formats.files import (
    FORMATS,
    is_machine_file,
    load_machine,
    load_reward_machine,
    machine_text,
    save_machine,
    task_of_machine_file,
)
from nrm.machines.formats.json import machine_from_dict, machine_to_dict
from nrm.machines.formats.pool_file import load_pool, pool_bytes, pool_from_bytes, save_pool
from nrm.machines.formats.task_file import load_task, save_task, task_from_text, task_from_toml, task_toml
from nrm.machines.formats.trace_file import TraceReader
from nrm.machines.guards import class_text, move_texts
from nrm.machines.monitor import Monitor, monitor
from nrm.machines.moore import MooreMachine, Run, Verdict
from nrm.machines.operations import (
    Difference,
    difference,
    equivalent,
    minimise,
    not_asked,
    product,
    shortest_trace,
    unsatisfiable,
    until_over,
)
from nrm.machines.reward_machine import FallOff, Outputs, Overlap, RewardMachine
from nrm.machines.rewards import (
    TOLERANCE,
    LevelCodec,
    LevelTable,
    Penalties,
    RewardScheme,
    levels,
    paid_success,
    with_rewards,
)
from nrm.machines.task import (
    AlphabetSettings,
    MachineLike,
    Task,
    alphabet_of,
    as_machine,
    as_machines,
    compile_formula,
    own_alphabet,
    split_names,
)
from nrm.machines.task_set import TaskSet, task_view, view_columns, view_width

__all__ = [
    "FORMATS",
    "TOLERANCE",
    "Alphabet",
    "AlphabetSettings",
    "Difference",
    "FallOff",
    "LevelCodec",
    "LevelTable",
    "MachineLike",
    "Monitor",
    "MooreMachine",
    "Outputs",
    "Overlap",
    "Penalties",
    "Picture",
    "RewardMachine",
    "RewardScheme",
    "Run",
    "Task",
    "TaskSet",
    "TraceReader",
    "Verdict",
    "alphabet_of",
    "as_machine",
    "as_machines",
    "class_text",
    "colour",
    "compile_formula",
    "difference",
    "draw",
    "equivalent",
    "graphviz",
    "is_machine_file",
    "levels",
    "load_machine",
    "load_pool",
    "load_reward_machine",
    "load_task",
    "machine_from_dict",
    "machine_text",
    "machine_to_dict",
    "minimise",
    "monitor",
    "move_texts",
    "not_asked",
    "own_alphabet",
    "paid_success",
    "pool_bytes",
    "pool_from_bytes",
    "product",
    "render",
    "save_machine",
    "save_pool",
    "save_task",
    "shortest_trace",
    "split_names",
    "task_from_text",
    "task_from_toml",
    "task_of_machine_file",
    "task_toml",
    "task_view",
    "text_picture",
    "to_dot",
    "unsatisfiable",
    "until_over",
    "view_columns",
    "view_width",
    "with_rewards",
]
