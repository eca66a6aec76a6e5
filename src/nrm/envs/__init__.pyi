from .base import (
    ActionSpace as ActionSpace,
    BatchedEnv as BatchedEnv,
    Probe as Probe,
    StepBatch as StepBatch,
    Truth as Truth,
    action_space as action_space,
)
from .batched import (
    BatchedTasks as BatchedTasks,
)
from .counter_rng import (
    environment_seeds as environment_seeds,
)
from .gold_mining import (
    GoldMiningConfig as GoldMiningConfig,
    GoldMiningEnv as GoldMiningEnv,
)
from .labels import (
    labelling as labelling,
    letter_of as letter_of,
)
from .minecraft import (
    ACTIONS as ACTIONS,
    MINECRAFT_SYMBOLS as MINECRAFT_SYMBOLS,
    MinecraftConfig as MinecraftConfig,
    MinecraftEnv as MinecraftEnv,
)
from .noisy_labels import (
    NoisyLabels as NoisyLabels,
    NoisyLabelsEnv as NoisyLabelsEnv,
    with_noisy_labels as with_noisy_labels,
)
from .office import (
    OfficeConfig as OfficeConfig,
    OfficeEnv as OfficeEnv,
)
from .plane import (
    PlaneConfig as PlaneConfig,
    PlaneEnv as PlaneEnv,
)
from .registry import (
    ENVS as ENVS,
    Board as Board,
    EnvConfig as EnvConfig,
    Spaces as Spaces,
    TaskSpace as TaskSpace,
    find_env as find_env,
    many_task_envs as many_task_envs,
)
from .task_env import (
    TaskEnv as TaskEnv,
)
from .task_runner import (
    End as End,
    ending_states as ending_states,
    with_terminal_rewards as with_terminal_rewards,
)
from .vector import (
    GymVectorEnv as GymVectorEnv,
)
from .water import (
    WaterConfig as WaterConfig,
    WaterEnv as WaterEnv,
)
from .zones import (
    ZonesConfig as ZonesConfig,
    ZonesEnv as ZonesEnv,
)
