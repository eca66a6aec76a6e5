"""Moore machines whose outputs are rewards: alphabets, tasks, rewards, equivalence, files and pictures."""

from nrm.machines.alphabet import Alphabet
from nrm.machines.drawing import Picture, draw, render, text_picture
from nrm.machines.formats.files import (
    is_machine_file,
    load_machine,
    load_reward_machine,
    machine_text,
    save_machine,
    task_of_machine_file,
)
from nrm.machines.formats.json import machine_from_dict
from nrm.machines.formats.task_file import load_task, save_task, task_from_text
from nrm.machines.levels import LevelCodec
from nrm.machines.moore import MooreMachine, Run
from nrm.machines.operations import Difference, difference, equivalent, minimise, product, until_over
from nrm.machines.pool import TaskSet
from nrm.machines.reward_machine import FallOff, Outputs, Overlap, RewardMachine
from nrm.machines.rewards import RewardScheme, levels, with_rewards
from nrm.machines.task import MachineLike, Task, as_machine, as_machines, compile_formula
from nrm.machines.view import ENCODINGS, LookAhead, TaskEncoding, task_view, view_columns, view_width

__all__ = [
    "ENCODINGS",
    "Alphabet",
    "Difference",
    "FallOff",
    "LevelCodec",
    "LookAhead",
    "MachineLike",
    "MooreMachine",
    "Outputs",
    "Overlap",
    "Picture",
    "RewardMachine",
    "RewardScheme",
    "Run",
    "Task",
    "TaskEncoding",
    "TaskSet",
    "as_machine",
    "as_machines",
    "compile_formula",
    "difference",
    "draw",
    "equivalent",
    "is_machine_file",
    "levels",
    "load_machine",
    "load_reward_machine",
    "load_task",
    "machine_from_dict",
    "machine_text",
    "minimise",
    "product",
    "render",
    "save_machine",
    "save_task",
    "task_from_text",
    "task_of_machine_file",
    "task_view",
    "text_picture",
    "until_over",
    "view_columns",
    "view_width",
    "with_rewards",
]
