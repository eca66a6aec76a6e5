"""Moore machines whose outputs are rewards: alphabets, compilation, rewards, equivalence, files and pictures."""

from nrm.machines.alphabet import Alphabet
from nrm.machines.compile import compile_formula
from nrm.machines.dot import from_dot, to_dot
from nrm.machines.draw import draw, render, text_picture
from nrm.machines.hoa import to_hoa
from nrm.machines.hoa_reader import from_hoa
from nrm.machines.levels import LevelCodec
from nrm.machines.machine_file import FORMATS, Format, load_machine, load_reward_machine, machine_text, save_machine
from nrm.machines.moore import MooreMachine, Run
from nrm.machines.operations import Difference, canonical, difference, equivalent, minimise, product
from nrm.machines.reward_file import parse_reward_machine, to_reward_file
from nrm.machines.reward_machine import FallOff, Outputs, Overlap, RewardEdge, RewardMachine
from nrm.machines.rewards import SCHEMES, RewardScheme, levels, with_rewards
from nrm.machines.serial import machine_from_dict, machine_json, machine_to_dict
from nrm.machines.task import Task, load_task, save_task

__all__ = [
    "FORMATS",
    "SCHEMES",
    "Alphabet",
    "Difference",
    "FallOff",
    "Format",
    "LevelCodec",
    "MooreMachine",
    "Outputs",
    "Overlap",
    "RewardEdge",
    "RewardMachine",
    "RewardScheme",
    "Run",
    "Task",
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
