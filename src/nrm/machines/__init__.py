"""Moore machines whose outputs are rewards: alphabets, compilation, rewards, equivalence, files and pictures."""

from nrm.machines.alphabet import Alphabet
from nrm.machines.compile import compile_formula
from nrm.machines.dot import from_dot, to_dot
from nrm.machines.draw import draw, render, text_picture
from nrm.machines.moore import MooreMachine, Run
from nrm.machines.operations import Difference, canonical, difference, equivalent, minimise, product
from nrm.machines.rewards import SCHEMES, RewardScheme, levels, with_rewards
from nrm.machines.serial import load_machine, machine_from_dict, machine_json, machine_to_dict, save_machine
from nrm.machines.task import Task, load_task, save_task

__all__ = [
    "SCHEMES",
    "Alphabet",
    "Difference",
    "MooreMachine",
    "RewardScheme",
    "Run",
    "Task",
    "canonical",
    "compile_formula",
    "difference",
    "draw",
    "equivalent",
    "from_dot",
    "levels",
    "load_machine",
    "load_task",
    "machine_from_dict",
    "machine_json",
    "machine_to_dict",
    "minimise",
    "product",
    "render",
    "save_machine",
    "save_task",
    "text_picture",
    "to_dot",
    "with_rewards",
]
