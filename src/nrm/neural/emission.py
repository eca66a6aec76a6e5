"""What a grounder says about symbols, and the letters that follow from it; checks on probabilities and observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.functional import one_hot

from nrm.automata import LetterFunction
from nrm.errors import AlphabetError, EpisodeError, LimitError, ProbabilityError, listing, shorten
from nrm.machines import Alphabet

Values: TypeAlias = Tensor | ArrayLike
"""Numbers as a tensor, or as lists or arrays, which become one."""

MAX_BITS = 62
"""Propositions up to which a letter is a number of 64 bits."""
TOLERANCE = 1e-3
"""How far from 1 probabilities may sum before they are refused: wide enough for half precision."""


def as_tensor(values: Values, what: str, like: Tensor | None = None) -> Tensor:
    """A tensor as it is; lists and arrays as one: in single precision, or of the type of `like`, on its device."""
    if isinstance(values, Tensor):
        return values
    try:
        given = np.asarray(values)
    except ValueError:
        raise EpisodeError(f"{what} have rows of different lengths; pad them, and give lengths=…") from None
    if given.dtype.kind not in "biuf":
        raise EpisodeError(f"{what} must hold numbers, not {shorten(repr(values))}")
    tensor = torch.from_numpy(np.array(given))  # a copy: the array may be read-only
    if like is not None:
        return tensor.to(like)
    return tensor.float() if tensor.dtype == torch.float64 else tensor


def check_distribution(probs: Tensor, what: str) -> None:
    """Raise `ProbabilityError` unless the rows of `probs` (…, n) are distributions."""
    check_unit_interval(probs, what)
    sums = probs.detach().sum(-1)
    place, row = _first((sums - 1).abs() > TOLERANCE)
    if place is not None:
        total = float(sums[place])
        raise ProbabilityError(f"{what} sum to {total:.4g} instead of 1 in row {row}; end the grounder with a softmax")


def check_unit_interval(probs: Tensor, what: str) -> None:
    """Raise `ProbabilityError` unless every number lies between 0 and 1."""
    place, row = _first(~((probs >= -TOLERANCE) & (probs <= 1 + TOLERANCE)))
    if place is not None:
        found = f"{what} hold {float(probs.detach()[place]):.4g} at {row}"
        raise ProbabilityError(f"{found}; are these logits? End the grounder with a softmax (independent: a sigmoid)")


def check_finite(observations: Tensor, what: str = "observation") -> None:
    """Raise `ProbabilityError` when an observation (first axis) holds NaN or infinity."""
    if not observations.is_floating_point():
        return
    place, row = _first(~torch.isfinite(observations))
    if place is not None:
        found = f"{what} {place[0]} holds {float(observations[place])} at {row} (counting from 0)"
        raise ProbabilityError(f"{found}; observations must be finite numbers")


def _first(mask: Tensor) -> tuple[tuple[int, ...] | None, str]:
    """The first place where a mask is true, also as people read it; None where it is nowhere."""
    if not bool(mask.any()):
        return None, ""
    place = tuple(int(number) for number in mask.nonzero()[0])
    return place, str(place[0]) if len(place) == 1 else str(place)


def letters_from_propositions(probs: Tensor) -> Tensor:
    """(…, 2^n) letter probabilities from those of n independent propositions (…, n); bit i of a letter is i's truth."""
    letters = torch.ones_like(probs[..., :1])
    for proposition in probs.unbind(-1):
        true = proposition.unsqueeze(-1)
        # A later proposition is a higher bit: all letters without it come first.
        letters = torch.cat([letters * (1 - true), letters * true], -1)
    return letters


class LetterDistribution:
    """How the numbers (…, outputs) that a grounder gives for an observation are read: how probable each letter is."""

    counted = False
    """Whether machines move by letter classes that are counted, and not by letters."""

    independent = False
    """Whether each proposition has a probability of its own."""

    def __init__(self, alphabet: Alphabet, counting: Callable[[Tensor], Tensor] | None = None) -> None:  # noqa: ARG002
        if not alphabet.is_listable:
            count = len(alphabet.symbols)
            raise AlphabetError(f"{count} propositions have 2^{count} letters, too many; use emission='independent'")
        self.outputs = alphabet.size
        self.even = 1.0 / self.outputs
        """What ignorance says of a symbol."""

    def smoothed(self, symbols: Tensor, amount: float) -> Tensor:
        """Symbols mixed with a little ignorance, so that nothing that the machine can do has probability 0."""
        return (1 - amount) * symbols + amount * self.even if amount else symbols

    def sharpened(self, symbols: Tensor, amount: float) -> Tensor:
        """Symbols without the ignorance that was mixed into them."""
        return ((symbols - amount * self.even) / (1 - amount)).clamp(0.0, 1.0)

    def check(self, symbols: Tensor) -> None:
        """Raise `ProbabilityError` unless symbols are probabilities."""
        check_distribution(symbols, "the grounder's symbol probabilities")

    def probabilities(self, scores: Tensor) -> Tensor:
        """From the scores of a network's last layer."""
        return scores.softmax(-1)

    def scores(self, symbols: Tensor) -> Tensor:
        """Scores that give these probabilities."""
        return self.centred(symbols.log())

    def centred(self, scores: Tensor) -> Tensor:
        """Scores without what `probabilities` takes no notice of."""
        return scores - scores.mean(-1, keepdim=True)

    def letter_probs(self, symbols: Tensor) -> Tensor:
        """(…, letters) what machines move by."""
        return symbols

    def certain(self, symbols: Tensor) -> Tensor:
        """(…, letters) the same where the most probable letter is taken for certain."""
        return one_hot(symbols.argmax(-1), symbols.shape[-1]).to(symbols.dtype)

    def letters(self, symbols: Tensor) -> Tensor:
        """(…) the most probable letter of each row."""
        return symbols.argmax(-1)

    def share(self, symbols: Tensor, letters: Tensor) -> Tensor:
        """(n,) the probabilities of letters (n,)."""
        return symbols.gather(1, letters[:, None])[:, 0]

    def of_letters(self, letters: Tensor) -> Tensor:
        """(n, outputs) what letters (n,) say for certain."""
        return one_hot(letters, self.outputs).float()

    def divergence(self, said: Tensor, wanted: Tensor) -> Tensor:
        """(n,) the Kullback-Leibler divergence of what is said from what is wanted, in nats."""
        return (wanted * (_log(wanted) - _log(said))).sum(-1)

    def expected(self, said: Tensor, gradient: Tensor, occurrences: Tensor) -> Tensor:  # noqa: ARG002
        """(n, outputs) how often each symbol is expected to have held, from the gradient d log L / d said."""
        return said * gradient

    def total(self, counts: Tensor, occurrences: Tensor) -> Tensor:  # noqa: ARG002
        """What expected counts (…, n, outputs) are divided by, for the share of each symbol."""
        return counts.sum(-1, keepdim=True)


class PropositionDistribution(LetterDistribution):
    """The same as one probability for each proposition, independently."""

    independent = True

    def __init__(self, alphabet: Alphabet, counting: Callable[[Tensor], Tensor] | None = None) -> None:
        """`counting`: what machines move by, from propositions; without it, the probabilities of all 2^n letters."""
        if alphabet.propositions is None:
            raise AlphabetError(
                "independent propositions need a propositional alphabet, but exactly one of "
                f"{listing(alphabet.letter_names)} holds at a step; use emission='categorical'"
            )
        self.outputs, self.even, self.counted = len(alphabet.symbols), 0.5, counting is not None
        self._move_by = counting or letters_from_propositions

    def check(self, symbols: Tensor) -> None:
        """Each lies between 0 and 1."""
        check_unit_interval(symbols, "the grounder's proposition probabilities")

    def probabilities(self, scores: Tensor) -> Tensor:
        """Sigmoid."""
        return scores.sigmoid()

    def scores(self, symbols: Tensor) -> Tensor:
        """Log-odds."""
        return symbols.logit()

    def centred(self, scores: Tensor) -> Tensor:
        """As they are."""
        return scores

    def letter_probs(self, symbols: Tensor) -> Tensor:
        """Of letters, or of letter classes where these are counted."""
        return self._move_by(symbols)

    def certain(self, symbols: Tensor) -> Tensor:
        """With each proposition as it most probably is: the best letter's class need not be the best class."""
        return self._move_by((symbols > 0.5).to(symbols.dtype))

    def letters(self, symbols: Tensor) -> Tensor:
        """With each proposition as it most probably is."""
        count = symbols.shape[-1]
        if count > MAX_BITS:
            raise LimitError(f"the letters of {count} propositions have no number of 64 bits; take them one by one")
        return ((symbols > 0.5).long() << torch.arange(count, device=symbols.device)).sum(-1)

    def share(self, symbols: Tensor, letters: Tensor) -> Tensor:
        """The product over propositions."""
        return torch.where(self._true(letters), symbols, 1 - symbols).prod(-1)

    def of_letters(self, letters: Tensor) -> Tensor:
        """Which propositions they hold."""
        return self._true(letters).float()

    def divergence(self, said: Tensor, wanted: Tensor) -> Tensor:
        """The sum over propositions."""
        logs, others = _log(wanted) - _log(said), _log(1 - wanted) - _log(1 - said)
        return (wanted * logs + (1 - wanted) * others).sum(-1)

    def expected(self, said: Tensor, gradient: Tensor, occurrences: Tensor) -> Tensor:
        """L = s L1 + (1 - s) L0 for a proposition, so its posterior is s L1 / L = s (1 + (1 - s) d log L / d s)."""
        return said * (occurrences[:, None] + (1 - said) * gradient)

    def total(self, counts: Tensor, occurrences: Tensor) -> Tensor:
        """How often the observation was made."""
        return occurrences[:, None].expand_as(counts)

    def _true(self, letters: Tensor) -> Tensor:
        """(n, propositions) which ones letters (n,) hold."""
        return (letters[:, None] >> torch.arange(self.outputs, device=letters.device) & 1).bool()


Emission = Literal["categorical", "independent"]
EMISSIONS: dict[str, type[LetterDistribution]] = {
    "categorical": LetterDistribution,
    "independent": PropositionDistribution,
}


def _log(values: Tensor) -> Tensor:
    return values.clamp_min(1e-7).log()


class ClassCounting(nn.Module):
    """One pass down a diagram of letter classes: linear in its nodes, exact and differentiable; nothing of size 2^n."""

    def __init__(self, letters: LetterFunction, classes: int) -> None:
        super().__init__()
        self.letters = letters
        self.order = letters.order
        self.propositions = letters.propositions
        self.classes = classes
        self._rows = letters.nodes + classes
        # Rows of mass: nodes first, then classes. Parents stand above their children, so levels go from the top.
        self._root = letters.root if letters.root >= 0 else letters.nodes - 1 - letters.root
        targets = [np.where(side < 0, letters.nodes - 1 - side, side) for side in (letters.low, letters.high)]
        self._steps: list[tuple[int, str]] = []
        for level in range(len(letters.order)):
            here = np.flatnonzero(letters.levels == level)
            if len(here):
                rows = np.stack([here, *(target[here] for target in targets)])
                name = f"level_{level}"
                self.register_buffer(name, torch.tensor(rows, dtype=torch.int64), persistent=False)
                self._steps.append((letters.order[level], name))

    def described(self) -> dict[str, object]:
        """Names, numbers and tensors that `from_description` makes the same of."""
        given = self.letters
        arrays = {name: torch.tensor(getattr(given, name).tolist()) for name in ("levels", "low", "high")}
        return {
            "propositions": given.propositions,
            "order": list(given.order),
            "root": given.root,
            "classes": self.classes,
            **arrays,
        }

    @classmethod
    def from_description(cls, about: Mapping[str, Any]) -> ClassCounting:
        """What was described."""
        levels, low, high = (about[name].numpy().astype(np.int32) for name in ("levels", "low", "high"))
        order = tuple(about["order"])
        roots = np.array([about["root"]], dtype=np.int32)
        return cls(LetterFunction(about["propositions"], order, levels, low, high, roots), about["classes"])

    def forward(self, propositions: Tensor) -> Tensor:
        """(…, classes) from the probabilities of independent propositions (…, n)."""
        given = propositions.reshape(-1, propositions.shape[-1])
        mass = given.new_zeros(self._rows, len(given))
        mass[self._root] = 1
        for proposition, name in self._steps:
            nodes, low, high = getattr(self, name)
            arrived = mass[nodes]
            true = arrived * given[:, proposition]
            mass = mass.index_add(0, high, true).index_add(0, low, arrived - true)
        found = mass[self._rows - self.classes :].t()
        return found.reshape(*propositions.shape[:-1], self.classes)
