from .alphabet import (
    Alphabet as Alphabet,
)
from .drawing import (
    Picture as Picture,
    draw as draw,
    render as render,
    text_picture as text_picture,
)
from .formats.dot import (
    colour as colour,
    graphviz as graphviz,
    to_dot as to_dot,
)
from .formats.files import (
    FORMATS as FORMATS,
    is_machine_file as is_machine_file,
    load_infinite as load_infinite,
    load_machine as load_machine,
    load_reward_machine as load_reward_machine,
    machine_text as machine_text,
    save_machine as save_machine,
    task_of_machine_file as task_of_machine_file,
)
from .formats.hoa import (
    infinite_from_hoa as infinite_from_hoa,
    infinite_to_hoa as infinite_to_hoa,
)
from .formats.json import (
    machine_from_dict as machine_from_dict,
    machine_to_dict as machine_to_dict,
)
from .formats.pool_file import (
    load_pool as load_pool,
    pool_bytes as pool_bytes,
    pool_from_bytes as pool_from_bytes,
    save_pool as save_pool,
)
from .formats.task_file import (
    load_task as load_task,
    save_task as save_task,
    task_from_text as task_from_text,
    task_from_toml as task_from_toml,
    task_toml as task_toml,
)
from .formats.trace_file import (
    TraceReader as TraceReader,
)
from .guards import (
    class_text as class_text,
    move_texts as move_texts,
)
from .infinite import (
    InfiniteMachine as InfiniteMachine,
    Rounds as Rounds,
    compile_infinite as compile_infinite,
)
from .monitoring import (
    Monitor as Monitor,
    monitor as monitor,
)
from .moore import (
    MooreMachine as MooreMachine,
    Run as Run,
    Verdict as Verdict,
)
from .operations import (
    Difference as Difference,
    difference as difference,
    equivalent as equivalent,
    minimise as minimise,
    not_asked as not_asked,
    product as product,
    shortest_trace as shortest_trace,
    unsatisfiable as unsatisfiable,
    until_over as until_over,
)
from .options import (
    Options as Options,
)
from .reward_machine import (
    FallOff as FallOff,
    Outputs as Outputs,
    Overlap as Overlap,
    RewardMachine as RewardMachine,
)
from .rewards import (
    BEST as BEST,
    TOLERANCE as TOLERANCE,
    LevelCodec as LevelCodec,
    LevelTable as LevelTable,
    Penalties as Penalties,
    RewardScheme as RewardScheme,
    check_gamma as check_gamma,
    levels as levels,
    shaped as shaped,
    with_rewards as with_rewards,
)
from .task import (
    AlphabetSettings as AlphabetSettings,
    MachineLike as MachineLike,
    Task as Task,
    alphabet_of as alphabet_of,
    as_machine as as_machine,
    as_machines as as_machines,
    compile_formula as compile_formula,
    own_alphabet as own_alphabet,
    split_names as split_names,
)
from .task_set import (
    TaskSet as TaskSet,
    as_task_set as as_task_set,
    machine_or_tasks as machine_or_tasks,
    task_view as task_view,
    view_columns as view_columns,
)
