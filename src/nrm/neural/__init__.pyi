from .buffer import (
    Episode as Episode,
    EpisodeBuffer as EpisodeBuffer,
    EvidenceTable as EvidenceTable,
    packed as packed,
    unpacked as unpacked,
)
from .config import (
    Attempt as Attempt,
    FitConfig as FitConfig,
    FitRecord as FitRecord,
    FitSettings as FitSettings,
    Maximisation as Maximisation,
    Objective as Objective,
)
from .continuous import (
    Grounded as Grounded,
    GrounderFactory as GrounderFactory,
    MAX_LETTERS as MAX_LETTERS,
    UnexplainedError as UnexplainedError,
    continuous_grounders as continuous_grounders,
    ground_and_infer as ground_and_infer,
)
from .descent import (
    marginal as marginal,
    sequence as sequence,
)
from .discovery import (
    discover as discover,
    Discovery as Discovery,
    grounded_traces as grounded_traces,
    infer as infer,
    Inferred as Inferred,
    over_alphabet as over_alphabet,
    renaming as renaming,
)
from .em.steps import disputed as disputed
from .emission import (
    Emission as Emission,
)
from .episode_file import (
    RecordedEpisodes as RecordedEpisodes,
    record_episodes as record_episodes,
    save_episodes as save_episodes,
)
from .episodes import (
    EpisodeBatch as EpisodeBatch,
    ObservationTable as ObservationTable,
    StepTable as StepTable,
    observation_table as observation_table,
)
from .grounders import (
    AttendingGrounder as AttendingGrounder,
    CnnGrounder as CnnGrounder,
    FourierGrounder as FourierGrounder,
    GROUNDERS as GROUNDERS,
    Grounder as Grounder,
    GruGrounder as GruGrounder,
    MlpGrounder as MlpGrounder,
    PartsGrounder as PartsGrounder,
    PooledGrounder as PooledGrounder,
    RecurrentGrounder as RecurrentGrounder,
    StandardisedGrounder as StandardisedGrounder,
    TrueLabels as TrueLabels,
    grounder_for as grounder_for,
    named_grounder as named_grounder,
    paper_grounder as paper_grounder,
)
from .layers import (
    attention_loss as attention_loss,
    changed_places as changed_places,
    directions as directions,
    distinct_patches as distinct_patches,
    DistinctPatches as DistinctPatches,
    FlatFeatures as FlatFeatures,
    narrow_convolution as narrow_convolution,
    OVERLAPPING as OVERLAPPING,
    Part as Part,
    Parts as Parts,
    PartsEncoder as PartsEncoder,
    patch_features as patch_features,
    places as places,
    TILE as TILE,
    waves as waves,
)
from .learning import (
    Progress as Progress,
    contradiction as contradiction,
    fit as fit,
)
from .model import (
    Beliefs as Beliefs,
    Filtered as Filtered,
    NeuralRewardMachine as NeuralRewardMachine,
    Step as Step,
)
from .model_file import (
    load_model as load_model,
    read_torch as read_torch,
    save_model as save_model,
)
from .moore import (
    ProbabilisticMoore as ProbabilisticMoore,
)
from .recording_files import (
    csv_rows as csv_rows,
    load_episodes as load_episodes,
)
from .task_machines import (
    TaskMachines as TaskMachines,
)
