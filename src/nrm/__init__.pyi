from . import (
    agents as agents,
    automata as automata,
    detectors as detectors,
    envs as envs,
    figures as figures,
    inference as inference,
    logic as logic,
    machines as machines,
    neural as neural,
    report as report,
    results as results,
    runs as runs,
    sb3 as sb3,
    studio as studio,
    sweeps as sweeps,
    tabular as tabular,
    tracking as tracking,
    wrappers as wrappers,
)
from .detectors import EventDetector as EventDetector
from .envs import TaskEnv as TaskEnv
from .errors import NrmError as NrmError
from .logic import holds as holds, parse as parse
from .machines import (
    Alphabet as Alphabet,
    MooreMachine as MooreMachine,
    Task as Task,
    compile_formula,
    compile_infinite as compile_infinite,
    difference as difference,
    draw as draw,
    equivalent as equivalent,
    load_machine as load_machine,
    load_task as load_task,
    monitor as monitor,
    save_machine as save_machine,
)
from .neural import (
    FitConfig as FitConfig,
    NeuralRewardMachine as NeuralRewardMachine,
    discover as discover,
    fit as fit,
    load_episodes as load_episodes,
    load_model as load_model,
    record_episodes as record_episodes,
    save_episodes as save_episodes,
    save_model as save_model,
)
from .report import write_report as write_report
from .runs import (
    RunConfig as RunConfig,
    choose_run as choose_run,
    evaluate as evaluate,
    load_run as load_run,
    train as train,
)
from .shortcuts import diagnose as diagnose, explain as explain, shortcuts as shortcuts
from .sweeps import Grid as Grid, run_grid as run_grid
from .wrappers import (
    NeuralRewardMachineVectorWrapper as NeuralRewardMachineVectorWrapper,
    NeuralRewardMachineWrapper as NeuralRewardMachineWrapper,
    model_for as model_for,
)

__all__: list[str]
__version__: str
compile = compile_formula
