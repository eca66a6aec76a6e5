"""An event detector with the conventions of scikit-learn: fit, predict, score, get_params and set_params."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from nrm.detectors.coverage import Coverage, advice, coverage
from nrm.detectors.export import export_grounder, model_card
from nrm.detectors.judging import Judgement, passed
from nrm.detectors.recordings import Recording, as_letters, as_recordings, as_verdicts
from nrm.detectors.rules import compiled_rules, rule_numbers
from nrm.errors import ContradictionError, EpisodeError, LearningError, NrmWarning, unknown
from nrm.machines import MachineLike, TaskSet
from nrm.neural import (
    GROUNDERS,
    EpisodeBuffer,
    FitConfig,
    NeuralRewardMachine,
    Progress,
    StandardisedGrounder,
    StepTable,
    contradiction,
    fit,
    load_model,
    save_model,
)
from nrm.shortcuts import Shortcuts, shortcuts

if TYPE_CHECKING:
    from typing_extensions import Self


class EventDetector:
    """Detects symbols in recordings, learned from one verdict a recording and the rule that the verdict is about.

    The conventions are scikit-learn's: it can be cloned, and used in a `Pipeline` and in `cross_val_score`.

    Attributes after `fit`:
        model_: the neural reward machine.
        coverage_: what the recordings can teach; symbols that few recordings tell apart are in `coverage_.weak`.
        shortcuts_: what no verdict can teach, as `nrm.shortcuts` says it of the rules.
        held_out_score_: share of the held-out recordings whose verdict it judges right.
        learned_: whether these are at most half as many errors as the more frequent verdict makes.
        record_: what each restart came to, as `nrm.fit` says it.

    """

    def __init__(
        self,
        tasks: MachineLike | Sequence[MachineLike] = "",
        symbols: Sequence[str] | str = (),
        *,
        grounder: str | Callable[[tuple[int, ...], int], nn.Module] = "auto",
        reward: str = "acceptance",
        verdict_noise: float = 0.0,
        restarts: int = 8,
        epochs: int = 40,
        learning_rate: float = 0.01,
        held_out: float = 0.2,
        seed: int = 0,
    ) -> None:
        """Nothing is checked before `fit`.

        Args:
            tasks: the rule that verdicts are about, or a list of rules: formulas in any language.
            symbols: what can be detected, a list or text such as "a b c"; exactly one holds at each step. Include one
                for "none of the others".
            grounder: `auto` (fully connected, on standardised features), the name of a grounder, or a function of an
                observation's shape and the number of symbols.
            reward: the reward scheme of `fit(rewards=…)`. Verdicts need `acceptance`.
            verdict_noise: the share of wrong verdicts.
            restarts: most attempts from fresh parameters. They end when no further one improves.
            epochs: passes over the recordings in each restart.
            learning_rate: Adam's step size.
            held_out: share of the recordings that choose when to stop and which restart is best.
            seed: of the split, the parameters and the mini-batches.

        """
        self.tasks = tasks
        self.symbols = symbols
        self.grounder = grounder
        self.reward = reward
        self.verdict_noise = verdict_noise
        self.restarts = restarts
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.held_out = held_out
        self.seed = seed

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor."""
        for name, value in params.items():
            if name not in _parameters():
                raise LearningError(unknown("parameter", name, _parameters()))
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"EventDetector(tasks={self.tasks!r}, symbols={self.symbols!r})"

    def __sklearn_tags__(self) -> Any:
        """Asked for by scikit-learn alone."""
        tags = import_module("sklearn.utils")
        return tags.Tags(
            estimator_type=None,
            target_tags=tags.TargetTags(required=False),
            input_tags=tags.InputTags(two_d_array=False),
        )

    def coverage(
        self,
        recordings: Any,
        verdicts: Any,
        *,
        tasks: Sequence[Any] | None = None,
        lengths: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Coverage:
        """What judged recordings can teach, before anything is learned; the arguments are those of `fit`."""
        rules = compiled_rules(self.tasks, self.symbols, self.reward)
        given = as_recordings(recordings, lengths, groups)
        numbers = rule_numbers(rules, tasks, len(given))
        return coverage(rules, numbers, as_verdicts(verdicts, len(given)), [len(one) for one in given])

    def fit(
        self,
        recordings: Any,
        verdicts: Any = None,
        *,
        tasks: Sequence[Any] | None = None,
        rewards: Sequence[ArrayLike] | None = None,
        labels: Sequence[Any] | None = None,
        lengths: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn to detect the symbols.

        Args:
            recordings: a list of arrays (time, …), or one array (steps, …) with `lengths` or `groups`.
            verdicts: (recordings,) whether each satisfies its rule.
            tasks: the rule of each recording, or its number, where there are several.
            rewards: for each recording what was paid at each step (time,), in place of verdicts. NaN is unknown.
            labels: for each recording None, or the symbol at each step, None where it is not known.
            lengths: (recordings,) how many steps each has.
            groups: (steps,) which recording each step is of.
            progress: called with what each restart came to.

        """
        rules = compiled_rules(self.tasks, self.symbols, self.reward)
        given = as_recordings(recordings, lengths, groups)
        numbers, counts = rule_numbers(rules, tasks, len(given)), [len(one) for one in given]
        known = None if labels is None else as_letters(labels, rules.alphabet.symbols, counts)
        # To look for equal steps among very many costs more memory than the steps.
        buffer = EpisodeBuffer.for_tasks(rules, StepTable() if sum(counts) > 1 << 18 else None)
        if rewards is None:
            judged = as_verdicts(verdicts, len(given))
            self._check_both(judged, known is not None)
            self.coverage_ = coverage(rules, numbers, judged, counts)
            for one, verdict, task in zip(given, judged, numbers, strict=True):
                buffer.add(one, verdict=verdict, noise=self.verdict_noise, task=task)
        else:
            if len(rewards) != len(given):
                raise EpisodeError(f"rewards of {len(rewards)} recordings, but there are {len(given)}")
            for one, paid, task in zip(given, rewards, numbers, strict=True):
                buffer.add(one, rewards=paid, noise=self.verdict_noise, task=task)
        self._take(self._begun(rules, buffer, given[0].shape[1:]))
        if rewards is None and known is None and (said := advice(self.coverage_)):
            warnings.warn(said, NrmWarning, stacklevel=2)
        self._learn(buffer, given, known, progress)
        self._look_back(rules, buffer, given, numbers)
        if not self.learned_:
            warnings.warn(
                f"verdicts of held-out recordings are judged right in {self.held_out_score_:.0%} of cases, hardly more "
                f"than the {self.coverage_.majority:.0%} in which the more frequent verdict is right; do the features "
                "show what the rule speaks of, and are the verdicts about this rule?",
                NrmWarning,
                stacklevel=2,
            )
        return self

    def _begun(self, rules: TaskSet, buffer: EpisodeBuffer, shape: tuple[int, ...]) -> NeuralRewardMachine:
        """A model with a fresh grounder, for recordings that some symbols explain."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            grounder = self._new_grounder(shape, len(rules.alphabet.symbols))
        model, batch = NeuralRewardMachine(grounder, rules), buffer.batch()
        wrong = contradiction(model.machine, batch)
        if wrong is not None:
            place = f"recording {wrong.episode}, step {wrong.step} (counting from 0)"
            raise ContradictionError(f"{place}: {wrong.reason}", wrong.episode, wrong.step)
        if isinstance(grounder, StandardisedGrounder):
            grounder.scale_to(batch.observations)
        return model

    def _learn(
        self,
        buffer: EpisodeBuffer,
        given: list[Recording],
        known: list[NDArray[np.int64]] | None,
        progress: Progress | None,
    ) -> None:
        labelled = None
        if known is not None and any((letters >= 0).any() for letters in known):
            steps, letters = np.concatenate(given), np.concatenate(known)
            labelled = steps[letters >= 0], letters[letters >= 0]
        # The chain of a single machine is faster than that of a set.
        learning = self._of_rule[0] if len(self._of_rule) == 1 else self.model_
        self.record_ = fit(learning, buffer, config=self._config(), labelled=labelled, progress=progress)
        self.model_.eval()
        rows = buffer.split(self.held_out, torch.Generator().manual_seed(self.seed))
        self._held_out = rows[1] or rows[0]

    def _config(self) -> FitConfig:
        return FitConfig(
            objective="regularised",
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            restarts=self.restarts,
            held_out=self.held_out,
            seed=self.seed,
        )

    def _look_back(self, rules: TaskSet, buffer: EpisodeBuffer, given: list[Recording], numbers: list[int]) -> None:
        """What the recordings could teach, by the symbols that were detected in them."""
        self.shortcuts_: Shortcuts = shortcuts(rules.machines)
        self.n_features_in_ = int(np.prod(given[0].shape[1:]))
        accepting = buffer.accepting
        assert accepting is not None
        weights = np.eye(len(accepting)) if buffer.evidence is None else buffer.evidence
        true = [bool((weights[episode.levels[-1]] * accepting).max() > 0.5) for episode in buffer]
        self.judged_ = passed(self._of_rule, buffer.batch(), np.array(numbers), accepting)
        self.held_out_score_ = float(np.mean([self.judged_[number] == true[number] for number in self._held_out]))
        letters = [self._letters(one) for one in given]
        self.coverage_ = coverage(rules, numbers, true, [len(one) for one in given], letters)
        self.learned_ = 2 * self.held_out_score_ >= 1 + self.coverage_.majority

    def predict(self, recordings: Any, lengths: ArrayLike | None = None) -> Any:
        """The symbol at each step: an array of names for one recording (time, …), a list of arrays for a list."""
        names = np.array(self._fitted().machine.alphabet.symbols)
        return self._each(recordings, lengths, lambda one: names[self._letters(one)])

    def predict_proba(self, recordings: Any, lengths: ArrayLike | None = None) -> Any:
        """(time, symbols) the probability of each symbol at each step of a recording, or a list of these."""
        return self._each(recordings, lengths, lambda one: self._said(one).numpy())

    def judge(self, recordings: Any, task: Any = 0, lengths: ArrayLike | None = None) -> Any:
        """Where a rule stands after each step of a recording: a `Judgement`, or a list of them for a list.

        `task`: the rule or its number, where there are several.
        """
        number = rule_numbers(self._tasks(), [task], 1)[0]
        return self._each(recordings, lengths, lambda one: self._judge(one, number))

    def score(self, recordings: Any, verdicts: Any, tasks: Sequence[Any] | None = None) -> float:
        """The share of recordings whose verdict is judged right."""
        given = as_recordings(recordings)
        numbers = rule_numbers(self._tasks(), tasks, len(given))
        judged = [self._judge(one, number).verdict for one, number in zip(given, numbers, strict=True)]
        return float(np.mean(np.array(judged) == np.array(as_verdicts(verdicts, len(given)))))

    def save(self, path: str | Path) -> Path:
        """Write the detector and its rules to a model file, which `nrm.load_model` and `nrm monitor` read too."""
        return save_model(path, self._fitted())

    @classmethod
    def load(cls, path: str | Path) -> EventDetector:
        """Read a detector back: its grounder, symbols and rules. How it was learned is not part of the file."""
        model = load_model(path)
        tasks = model.machine.known()
        found = cls(tasks.names[0] if len(tasks) == 1 else list(tasks.names), list(tasks.alphabet.symbols))
        found._take(NeuralRewardMachine(model.grounder, tasks, model.emission))
        found.model_.feature_names = model.feature_names
        found.shortcuts_ = shortcuts(tasks.machines)
        return found

    def export(self, path: str | Path) -> Path:
        """Write the detector for other programs: `.onnx` (extra `onnx`) or `.pt` (TorchScript).

        It maps observations (steps, …) to probabilities (steps, symbols); the file holds the symbols and the rules.
        """
        model = self._fitted()
        return export_grounder(Path(path), model.grounder, self._shape(), self._tasks())

    def card(self) -> str:
        """A short model card: rules, symbols, data, what they cannot teach, and how well verdicts are judged."""
        self._fitted()
        return model_card(self)

    def _shape(self) -> tuple[int, ...]:
        inputs = getattr(self._fitted().grounder, "config", {}).get("inputs")
        if inputs is None:
            raise LearningError("this grounder does not say which observations it reads, so it cannot be exported")
        return (int(inputs),)

    def _check_both(self, verdicts: list[bool], labelled: bool) -> None:
        if len(set(verdicts)) < 2 and not labelled:
            all_ = "pass" if verdicts[0] else "fail"
            raise EpisodeError(
                f"all {len(verdicts)} recordings {all_}; verdicts teach by their difference, so add others"
            )

    def _new_grounder(self, shape: tuple[int, ...], symbols: int) -> nn.Module:
        if callable(self.grounder):
            return self.grounder(shape, symbols)
        name = "standardised" if self.grounder == "auto" else self.grounder
        made: nn.Module = GROUNDERS[name].from_shape(shape, symbols)
        return made

    def _fitted(self) -> NeuralRewardMachine:
        if not hasattr(self, "model_"):
            raise LearningError("this detector has learned nothing yet; call fit(recordings, verdicts) first")
        return self.model_

    def _take(self, model: NeuralRewardMachine) -> None:
        """Have a model, and those of its single rules."""
        self.model_ = model
        self._of_rule = [model.of_task(number) for number in range(len(self._tasks()))]

    def _tasks(self) -> TaskSet:
        return self._fitted().machine.known()

    def _each(self, recordings: Any, lengths: ArrayLike | None, ask: Callable[[Recording], Any]) -> Any:
        """What is asked of one recording, or of each of a list."""
        single = lengths is None and isinstance(recordings, np.ndarray) and recordings.dtype != object
        given = as_recordings([recordings] if single else recordings, lengths)
        found = [ask(one) for one in given]
        return found[0] if single else found

    def _said(self, recording: Recording) -> Tensor:
        with torch.no_grad():
            return self._fitted().ground(torch.from_numpy(recording))

    def _letters(self, recording: Recording) -> NDArray[np.int64]:
        letters: NDArray[np.int64] = self._fitted().letters(self._said(recording)).numpy()
        return letters

    def _judge(self, recording: Recording, task: int) -> Judgement:
        return Judgement.of(self._of_rule[task], self._tasks().machines[task], recording)


def _parameters() -> list[str]:
    return [name for name in inspect.signature(EventDetector.__init__).parameters if name != "self"]
