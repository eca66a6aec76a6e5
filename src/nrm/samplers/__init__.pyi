from .patterns import (
    chain as chain,
)
from .registry import (
    FILE_PREFIX as FILE_PREFIX,
    RENAMED_SAMPLERS as RENAMED_SAMPLERS,
    SAMPLERS as SAMPLERS,
    Listed as Listed,
    Mixture as Mixture,
    Sampler as Sampler,
    TemplateSampler as TemplateSampler,
    sampler_of as sampler_of,
)
from .sampling import (
    TaskSetConfig as TaskSetConfig,
    alone_note as alone_note,
    events_of as events_of,
    sample_tasks as sample_tasks,
)
