from .tasks import Family as Family, OneTask as OneTask, about as about
from .checkpoint import Column as Column
from .choosing import (
    choose_run as choose_run,
    default_sections as default_sections,
    env_as_set as env_as_set,
    read_recipe as read_recipe,
)
from .config import RunConfig as RunConfig, sources_of as sources_of
from .folder import (
    PRETRAINED as PRETRAINED,
    RunFolder as RunFolder,
    clear_beginnings as clear_beginnings,
    find_run as find_run,
    known_model as known_model,
    train as train,
    whole_folder as whole_folder,
)
from .learned_machines import LearnedMachines as LearnedMachines
from .loaded import LoadedRun as LoadedRun, evaluate as evaluate, load_run as load_run
from .lock import holder as holder, locked as locked
from .renamed import (
    RENAMED as RENAMED,
    RENAMED_VALUES as RENAMED_VALUES,
    Renaming as Renaming,
    warn_renamed as warn_renamed,
)
from .sections import (
    MANY_SECTIONS as MANY_SECTIONS,
    changed as changed,
    converted as converted,
    read_section as read_section,
)
from .words import (
    AUTO as AUTO,
    LogicOption as LogicOption,
    RunOptions as RunOptions,
    SettingsOption as SettingsOption,
    Words as Words,
    literal as literal,
)
