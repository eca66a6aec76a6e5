from . import (
    agents as agents,
    automata as automata,
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
    sweeps as sweeps,
    tracking as tracking,
    wrappers as wrappers,
)
from .agents import (
    ALGORITHMS as ALGORITHMS,
    Algorithm as Algorithm,
    METHODS as METHODS,
    Method as Method,
    Trainer as Trainer,
    new_trainer as new_trainer,
)
from .envs import (
    BatchedMinecraft as BatchedMinecraft,
    ENVS as ENVS,
    EnvConfig as EnvConfig,
    GymVectorEnv as GymVectorEnv,
    MINECRAFT_SYMBOLS as MINECRAFT_SYMBOLS,
    MinecraftConfig as MinecraftConfig,
    TaskEnv as TaskEnv,
)
from .errors import NrmError as NrmError
from .figures import write_figures as write_figures
from .logic import (
    Formula as Formula,
    PAPER_SYMBOLS as PAPER_SYMBOLS,
    PAPER_TASKS as PAPER_TASKS,
    PaperTask as PaperTask,
    holds as holds,
    paper_task as paper_task,
    parse as parse,
)
from .machines import (
    Alphabet as Alphabet,
    MooreMachine as MooreMachine,
    Picture as Picture,
    Task as Task,
    compile_formula,
    difference as difference,
    draw as draw,
    equivalent as equivalent,
    load_machine as load_machine,
    load_task as load_task,
    minimise as minimise,
    product as product,
    save_machine as save_machine,
    save_task as save_task,
    task_from_text as task_from_text,
)
from .neural import (
    EpisodeBuffer as EpisodeBuffer,
    FitConfig as FitConfig,
    GROUNDERS as GROUNDERS,
    NeuralRewardMachine as NeuralRewardMachine,
    ProbabilisticMoore as ProbabilisticMoore,
    discover as discover,
    extract as extract,
    fit as fit,
    load_episodes as load_episodes,
    load_model as load_model,
    record_episodes as record_episodes,
    save_episodes as save_episodes,
    save_model as save_model,
)
from .report import write_report as write_report
from .results import read_records as read_records, write_results as write_results
from .runs import (
    RunConfig as RunConfig,
    RunFolder as RunFolder,
    choose_run as choose_run,
    evaluate as evaluate,
    load_run as load_run,
    train as train,
)
from .shortcuts import Shortcuts as Shortcuts, diagnose as diagnose, explain as explain, shortcuts as shortcuts
from .sweeps import Grid as Grid, load_grid as load_grid, run_grid as run_grid
from .tracking import (
    GroundingConfig as GroundingConfig,
    InferenceConfig as InferenceConfig,
    MachineLearning as MachineLearning,
    unknown_machine as unknown_machine,
)
from .wrappers import (
    NeuralRewardMachineVectorWrapper as NeuralRewardMachineVectorWrapper,
    NeuralRewardMachineWrapper as NeuralRewardMachineWrapper,
    model_for as model_for,
)

__all__: list[str]
__version__: str
compile = compile_formula
