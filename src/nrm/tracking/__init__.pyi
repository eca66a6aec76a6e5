from .accuracy import (
    Accuracy as Accuracy,
    AccuracyMeter as AccuracyMeter,
)
from .beliefs import (
    BeliefMemory as BeliefMemory,
    TaskBeliefMemory as TaskBeliefMemory,
    belief_memory as belief_memory,
)
from .grounding import (
    Decision as Decision,
    Grounding as Grounding,
    GroundingUpdate as GroundingUpdate,
)
from .grounding_config import (
    GroundingConfig as GroundingConfig,
    UpdateConfig as UpdateConfig,
    update_settings as update_settings,
)
from .hypothesis_memory import (
    HypothesisMemory as HypothesisMemory,
)
from .letters import (
    LabelledSymbols as LabelledSymbols,
    ObservedSymbols as ObservedSymbols,
    SymbolIndex as SymbolIndex,
    observation_name as observation_name,
)
from .machine_learning import (
    InferenceConfig as InferenceConfig,
    Judge as Judge,
    MachineLearning as MachineLearning,
    Version as Version,
    found_at as found_at,
    unknown_machine as unknown_machine,
)
from .memories import (
    Belief as Belief,
    Memory as Memory,
    Report as Report,
    StateMemory as StateMemory,
    Transition as Transition,
)
from .recorder import (
    RecordedEpisode as RecordedEpisode,
    Recorder as Recorder,
)
from .tracker import (
    Info as Info,
    Tracker as Tracker,
)
