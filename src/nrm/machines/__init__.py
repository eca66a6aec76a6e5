"""Moore machines whose outputs are rewards: alphabets, tasks, rewards, equivalence, files and pictures."""

from nrm.machines.alphabet import Alphabet
from nrm.machines.drawing import Picture, draw, render, text_picture
from nrm.machines.formats.dot import from_dot, to_dot
from nrm.machines.formats.files import (
    FORMATS,
    Format,
    load_machine,
    load_reward_machine,
    machine_text,
    save_machine,
)
from nrm.machines.formats.hoa_reader import from_hoa
from nrm.machines.formats.hoa_writer import to_hoa
from nrm.machines.formats.json import machine_from_dict, machine_json, machine_to_dict
from nrm.machines.formats.reward_machine_file import parse_reward_machine, to_reward_file
from nrm.machines.formats.task_file import load_task, save_task
from nrm.machines.levels import LevelCodec
from nrm.machines.moore import MooreMachine, Run
from nrm.machines.operations import Difference, canonical, difference, equivalent, minimise, product
from nrm.machines.reward_machine import FallOff, Outputs, Overlap, RewardEdge, RewardMachine
from nrm.machines.rewards import SCHEMES, RewardScheme, levels, with_rewards
from nrm.machines.task import MachineLike, Task, as_machine, as_machines, compile_formula

__all__ = [
    "FORMATS",
    "SCHEMES",
    "Alphabet",
    "Difference",
    "FallOff",
    "Format",
    "LevelCodec",
    "MachineLike",
    "MooreMachine",
    "Outputs",
    "Overlap",
    "Picture",
    "RewardEdge",
    "RewardMachine",
    "RewardScheme",
    "Run",
    "Task",
    "as_machine",
    "as_machines",
    "canonical",
    "compile_formula",
    "difference",
    "draw",
    "equivalent",
    "from_dot",
    "from_hoa",
    "levels",
    "load_machine",
    "load_reward_machine",
    "load_task",
    "machine_from_dict",
    "machine_json",
    "machine_text",
    "machine_to_dict",
    "minimise",
    "parse_reward_machine",
    "product",
    "render",
    "save_machine",
    "save_task",
    "text_picture",
    "to_dot",
    "to_hoa",
    "to_reward_file",
    "with_rewards",
]
