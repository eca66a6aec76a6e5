from .choosing import (
    EPISODES as EPISODES,
    choose_run as choose_run,
    default_sections as default_sections,
    env_as_set as env_as_set,
)
from .config import RunConfig as RunConfig
from .folder import (
    LoadedRun as LoadedRun,
    RunFolder as RunFolder,
    known_model as known_model,
    load_run as load_run,
    train as train,
)
