from .catalogue import (
    Guess as Guess,
    Moves as Moves,
    guess_formula as guess_formula,
    matching as matching,
)
from .evidence import (
    Episode as Episode,
    Evidence as Evidence,
    joined as joined,
    split as split,
)
from .hypothesis import (
    IDLE as IDLE,
    Certainty as Certainty,
    Following as Following,
    Hypothesis as Hypothesis,
    LabelNoiseTally as LabelNoiseTally,
    Refutation as Refutation,
    Tally as Tally,
    agreement as agreement,
    explained as explained,
    following as following,
    renumbered as renumbered,
)
from .label_noise import (
    MIN_NOISE as MIN_NOISE,
    LetterModel as LetterModel,
    leads_of as leads_of,
)
from .learning import (
    TooManyStatesError as TooManyStatesError,
    learn_machine as learn_machine,
)
from .merging import (
    UNSEEN as UNSEEN,
    fewer_states as fewer_states,
    prefix_tree as prefix_tree,
)
