from .cnn import (
    AttendingGrounder as AttendingGrounder,
    CnnGrounder as CnnGrounder,
    PooledGrounder as PooledGrounder,
)
from .detector import (
    DetectorGrounder as DetectorGrounder,
)
from .mlp import (
    FourierGrounder as FourierGrounder,
    MlpGrounder as MlpGrounder,
    PartsGrounder as PartsGrounder,
    StandardisedGrounder as StandardisedGrounder,
    TrueLabels as TrueLabels,
)
from .recurrent import (
    GruGrounder as GruGrounder,
)
from .registry import (
    GROUNDERS as GROUNDERS,
    Grounder as Grounder,
    RecurrentGrounder as RecurrentGrounder,
    entry_of as entry_of,
)
from .selection import (
    grounder_for as grounder_for,
    named_grounder as named_grounder,
    paper_grounder as paper_grounder,
)
