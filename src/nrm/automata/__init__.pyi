from .dfa import (
    Dfa as Dfa,
    combined_all as combined_all,
)
from .diagram import (
    Cube as Cube,
    cubes_of as cubes_of,
)
from .letters import (
    MAX_LISTED as MAX_LISTED,
    Classes as Classes,
    LetterClasses as LetterClasses,
    LetterFunction as LetterFunction,
    ListedLetters as ListedLetters,
    in_columns as in_columns,
    shortest_cubes as shortest_cubes,
)
from .moves import (
    Moves as Moves,
    Moving as Moving,
    moves_of_classes as moves_of_classes,
    moves_of_nodes as moves_of_nodes,
    read_diagram as read_diagram,
    unpacked as unpacked,
)
from .mtbdd import (
    DEFAULT_LIMITS as DEFAULT_LIMITS,
    FALSE as FALSE,
    LEAF as LEAF,
    TRUE as TRUE,
    Bdd as Bdd,
    Limits as Limits,
    Mtbdd as Mtbdd,
    spend as spend,
)
from .partition import (
    Numbers as Numbers,
    letter_classes as letter_classes,
)
from .search import (
    distinguishing_string as distinguishing_string,
    first_path as first_path,
)
from .table import (
    Table as Table,
    coarsest_congruence as coarsest_congruence,
    merged_classes as merged_classes,
)
