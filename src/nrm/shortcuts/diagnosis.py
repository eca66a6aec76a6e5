"""Was it the task or the training? A trained grounder beside the shortcuts of its task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nrm.aliases import FloatArray, Letter, Step
from nrm.automata import distinguishing_string
from nrm.errors import LimitError, NrmError, listing
from nrm.machines import Alphabet, MooreMachine
from nrm.shortcuts.analysis import ShortcutKind, Shortcuts
from nrm.shortcuts.reduction import name_map
from nrm.shortcuts.symmetry_group import SymmetryGroup
from nrm.shortcuts.symmetry_search import Permutation


@dataclass(frozen=True)
class Diagnosis:
    """Whether the errors of a grounder come from the task or from training."""

    nearest: dict[str, str]
    """For each observed symbol, its most frequent prediction."""
    kind: ShortcutKind | None
    """Which kind of shortcut `nearest` is: the errors come from the task. None if they come from training."""
    accuracy: float
    """The share of correct predictions."""
    balanced_accuracy: float
    """The mean recall of the observed symbols; a constant prediction scores low."""
    accuracy_modulo_shortcuts: float
    """Accuracy up to equivalence: the share of predictions in the right class, under the best symmetry."""
    symmetry: Permutation
    """The best symmetry, as images of the symbol classes."""
    witness: tuple[Step, ...] | None
    """A shortest trace on which `nearest` earns other rewards; None if it is a shortcut."""
    meaning: str
    """The verdict in a sentence."""


def diagnose(found: Shortcuts, confusion: ArrayLike) -> Diagnosis:
    """Compare a grounder with the shortcuts of its task.

    `confusion`: (symbols, symbols) counts, or sums of probabilities. Rows are true symbols, columns predictions.
    """
    matrix = _checked(found.alphabet, confusion)
    totals = matrix.sum(axis=1)
    observed = np.flatnonzero(totals)
    images = matrix.argmax(axis=1)
    pairs = [(int(letter), int(images[letter])) for letter in observed]
    kind = _kind(found, pairs)
    nearest = [image if totals[letter] else letter for letter, image in enumerate(images.tolist())]
    string = refuting_string(found.machine, nearest) if kind is None else None
    numbers = found.machine.letter_class
    scores = np.zeros((found.machine.classes, found.machine.classes))
    np.add.at(scores, (numbers[:, None], numbers[None, :]), matrix)
    symmetry, agreement = best_symmetry(found.group, scores)
    accuracy = float(matrix.trace() / matrix.sum())
    modulo = float(agreement / matrix.sum())
    names = name_map(found.alphabet, nearest)
    never = [found.alphabet.letter_name(letter) for letter in np.flatnonzero(totals == 0).tolist()]
    return Diagnosis(
        nearest={found.alphabet.letter_name(letter): names[found.alphabet.letter_name(letter)] for letter, _ in pairs},
        kind=kind,
        accuracy=accuracy,
        balanced_accuracy=float((matrix.diagonal()[observed] / totals[observed]).mean()),
        accuracy_modulo_shortcuts=modulo,
        symmetry=symmetry,
        witness=None if string is None else tuple(found.alphabet.decode(string)),
        meaning=_meaning(kind, accuracy, modulo, never),
    )


def _kind(found: Shortcuts, pairs: list[tuple[int, int]]) -> ShortcutKind | None:
    """The kind of the mildest shortcut that maps the observed letters so; letters never observed may go anywhere."""
    if all(letter == image for letter, image in pairs):
        return "identity"
    images = found.symmetry_agreeing_with(pairs)
    if images is None:
        return None
    return "class" if images == found.group.identity else "symmetry"


def best_symmetry(group: SymmetryGroup, scores: FloatArray) -> tuple[Permutation, float]:
    """The symmetry under which most predictions are in the right class, and how many are.

    scores: (classes, classes) how often a letter of one class was taken for one of another.
    """
    best = list(group.identity)
    for factor in group.factors:
        points = list(factor.moved)
        if factor.is_symmetric:
            images = assignment(scores[np.ix_(points, points)])
            for point, image in zip(points, images, strict=True):
                best[point] = points[image]
        else:
            chosen = _best_element(factor, scores)
            for point in points:
                best[point] = chosen[point]
    return tuple(best), float(scores[np.arange(len(best)), best].sum())


def _best_element(group: SymmetryGroup, scores: FloatArray) -> Permutation:
    most = 200_000
    if group.order > most:
        raise LimitError(
            f"accuracy up to equivalence compares {group.order:,} symmetries one by one, and the limit is {most:,}; "
            "`nrm.shortcuts` still says whether a mapping is a shortcut"
        )
    table = scores.tolist()
    moved = group.moved
    return max(group.elements(), key=lambda images: sum(table[point][images[point]] for point in moved))


def assignment(scores: FloatArray) -> list[int]:
    """For each row a column, no two the same, so that the sum of scores is largest (Hungarian method, O(n^3))."""
    size, costs = len(scores), scores.max() - scores
    row_prices, column_prices = np.zeros(size), np.zeros(size + 1)
    row_of = np.full(size + 1, -1)
    for row in range(size):
        # Grow a tree of cheapest alternating paths from `row` until it meets a free column; column `size` is its root.
        row_of[size] = row
        column = size
        gap, came_from, done = np.full(size, np.inf), np.full(size, size), np.zeros(size + 1, dtype=bool)
        while row_of[column] >= 0:
            done[column] = True
            here = row_of[column]
            slack = costs[here] - row_prices[here] - column_prices[:size]
            nearer = ~done[:size] & (slack < gap)
            gap[nearer], came_from[nearer] = slack[nearer], column
            column = int(np.where(done[:size], np.inf, gap).argmin())
            step = gap[column]
            row_prices[row_of[done]] += step
            column_prices[done] -= step
            gap[~done[:size]] -= step
        while column != size:
            row_of[column] = row_of[came_from[column]]
            column = int(came_from[column])
    columns: list[int] = np.argsort(row_of[:size]).tolist()
    return columns


def _meaning(kind: ShortcutKind | None, accuracy: float, modulo: float, never: Sequence[str]) -> str:
    """What the accuracies say; `never`: the letters that were not observed."""
    scores = f"{accuracy:.1%} exact, {modulo:.1%} up to equivalence"
    unfinished = f"{1 - modulo:.1%} of the predictions fit no shortcut, so training is not finished"
    remedy = "labels, another task or other potentials can"
    done = "every observed symbol is right" if never else "the grounding is complete"
    texts: Mapping[str | None, tuple[str, str, str]] = {
        "identity": (
            "Each symbol is named correctly more often than not, but not reliably",
            "the errors confuse symbols that the rewards of the task cannot separate",
            unfinished,
        ),
        "class": (
            "The grounder confuses symbols that the task treats alike",
            "harmless for this task, whose rewards cannot teach the difference",
            f"harmless for this task; but {unfinished}",
        ),
        "symmetry": (
            "The grounder exchanges symbols by a symmetry of the task",
            f"its rewards are the true ones, so more training cannot help, but {remedy}",
            f"{unfinished}; more training will not undo the exchange, but {remedy}",
        ),
    }
    wrong = "rewards can separate it from the true one, but training has not found it"
    head, good, noisy = texts.get(kind, ("No shortcut of the task explains this grounding", wrong, wrong))
    said = noisy if modulo < 0.9 else good  # what is wrong above counts as noise
    if kind == "identity" and accuracy >= 0.9:
        head, said = "Each symbol is named correctly", "the remaining errors are noise of training"
        said = done if accuracy == 1 else said
    text = f"{head} ({scores}): {said}."
    return f"{text} Never observed, so not judged: {listing(never)}." if never else text


def _checked(alphabet: Alphabet, confusion: ArrayLike) -> FloatArray:
    try:
        matrix = np.asarray(confusion, dtype=np.float64)
    except (TypeError, ValueError):
        raise NrmError("a confusion matrix must be a table of numbers with rows of equal length") from None
    size = alphabet.size
    if matrix.shape != (size, size):
        raise NrmError(
            f"the shape of the confusion matrix is {matrix.shape}; give {size} x {size}, a row for each true symbol "
            "and a column for each prediction"
        )
    wrong = matrix[~(np.isfinite(matrix) & (matrix >= 0))]
    if len(wrong):
        raise NrmError(f"the confusion matrix holds {wrong[0]}; give counts")
    if not matrix.any():
        raise NrmError("the confusion matrix is all zero: no prediction was recorded")
    return matrix


def refuting_string(
    machine: MooreMachine, mapping: Sequence[Letter], horizon: int | None = None
) -> tuple[Letter, ...] | None:
    """A shortest string on which a map changes the output; None if there is none (up to `horizon` letters)."""
    classes, outputs = machine.letter_class.tolist(), machine.outputs.tolist()
    letters = {(classes[letter], classes[value]): letter for letter, value in reversed(list(enumerate(mapping)))}
    rows = machine.columns.tolist()
    start = machine.initial, machine.initial
    found = distinguishing_string((rows, rows), start, letters, lambda a, b: outputs[a] != outputs[b], horizon)
    return None if found is None else tuple(found[0])
