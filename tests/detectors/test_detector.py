"""Event detectors: learned from verdicts, used as scikit-learn uses estimators, saved, exported, and bad input."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nrm
from nrm.detectors import EventDetector
from nrm.detectors.judging import passed
from nrm.errors import AlphabetError, ContradictionError, EpisodeError, LearningError, NrmWarning, UnknownSymbolError
from nrm.machines import TaskSet
from nrm.neural import EpisodeBatch, EpisodeBuffer, StepTable

SYMBOLS = ["a", "b", "c"]
CENTRES = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 4.0]])
"""Features of different scale around which steps with each symbol lie."""
RULE = "F(a & F b)"


def recordings(count: int, rule: str = RULE, seed: int = 0) -> tuple[list[Any], list[bool], list[list[str]]]:
    """Features (time, 2), verdicts and true symbols."""
    generator = np.random.default_rng(seed)
    shown, verdicts, true = [], [], []
    for _ in range(count):
        letters = generator.integers(3, size=generator.integers(1, 6))
        names = [SYMBOLS[letter] for letter in letters]
        shown.append(CENTRES[letters] + generator.normal(size=(len(letters), 2)) * [4.0, 0.4])
        verdicts.append(nrm.holds(rule, names))
        true.append(names)
    return shown, verdicts, true


@pytest.fixture(scope="module")
def fitted() -> EventDetector:
    shown, verdicts, _ = recordings(200)
    return EventDetector(RULE, SYMBOLS).fit(shown, verdicts)


def share(detector: EventDetector, shown: list[Any], true: list[list[str]]) -> float:
    return float(np.mean(np.concatenate(detector.predict(shown)) == np.concatenate(true)))


def test_symbols_and_verdicts_of_unseen_recordings(fitted: EventDetector) -> None:
    shown, verdicts, true = recordings(100, seed=1)
    assert share(fitted, shown, true) > 0.97
    assert fitted.score(shown, verdicts) > 0.97
    assert fitted.held_out_score_ > 0.95
    assert fitted.shortcuts_.count == 1
    assert not fitted.coverage_.shortcuts
    probabilities = fitted.predict_proba(shown[0])
    assert probabilities.shape == (len(shown[0]), 3)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-5)


def test_judgements(fitted: EventDetector) -> None:
    found = fitted.judge(CENTRES[[2, 0, 1]])
    np.testing.assert_allclose(sum(found), 1, atol=1e-5)
    assert found.open[:2].min() > 0.9
    assert found.satisfied[-1] > 0.9
    assert found.verdict
    lost = EventDetector("F a & G !c", SYMBOLS)
    rule = nrm.compile(str(lost.tasks), SYMBOLS, reward="acceptance")
    lost._take(nrm.NeuralRewardMachine(fitted.model_.grounder, TaskSet.of([rule])))
    judged = lost.judge(CENTRES[[0, 2]])
    assert judged.holds[0] > 0.9
    assert judged.violated[1] > 0.9
    assert not judged.verdict


@pytest.mark.filterwarnings("ignore:verdicts of held-out")
def test_one_array_with_lengths_or_groups_is_a_list(fitted: EventDetector) -> None:
    shown, verdicts, _ = recordings(60)
    whole, lengths = np.concatenate(shown), [len(one) for one in shown]
    groups = np.repeat(np.arange(60), lengths)
    small: dict[str, Any] = {"restarts": 1, "epochs": 2}
    ways = [
        EventDetector(RULE, SYMBOLS, **small).fit(shown, verdicts),
        EventDetector(RULE, SYMBOLS, **small).fit(whole, verdicts, lengths=lengths),
        EventDetector(RULE, SYMBOLS, **small).fit(whole, verdicts, groups=groups),
    ]
    said = [one.predict_proba(whole) for one in ways]
    np.testing.assert_array_equal(said[0], said[1])
    np.testing.assert_array_equal(said[0], said[2])
    assert [len(one) for one in fitted.predict(whole, lengths=lengths)] == lengths


def test_several_rules_rewards_and_labels() -> None:
    shown, _, true = recordings(150)
    rules = ["F(a & F b)", "G !c"]
    numbers = [number % 2 for number in range(150)]
    verdicts = [nrm.holds(rules[task], names) for task, names in zip(numbers, true, strict=True)]
    later, _, truth = recordings(60, seed=1)
    detector = EventDetector(rules, SYMBOLS).fit(shown, verdicts, tasks=[rules[task] for task in numbers])
    assert share(detector, later, truth) > 0.95
    assert detector.judge(CENTRES[[2]], task="G !c").violated[0] > 0.9
    with pytest.raises(EpisodeError, match="rules"):
        detector.score(shown, verdicts)
    machine = nrm.compile(RULE, SYMBOLS, reward="acceptance")
    paid = [list(machine.run(names).rewards) for names in true]
    paid[0][0] = math.nan
    assert share(EventDetector(RULE, SYMBOLS).fit(shown, rewards=paid), later, truth) > 0.95
    labels: list[Any] = [names if number < 30 else None for number, names in enumerate(true)]
    labels[0] = [None] * len(true[0])
    labelled = EventDetector("F a", SYMBOLS, restarts=2)
    assert share(labelled.fit(shown, ["a" in names for names in true], labels=labels), later, truth) > 0.95


def test_wrong_verdicts_are_borne() -> None:
    shown, verdicts, _ = recordings(300)
    later, _, truth = recordings(60, seed=1)
    wrong = [verdict != (number % 20 == 0) for number, verdict in enumerate(verdicts)]
    detector = EventDetector(RULE, SYMBOLS, verdict_noise=0.05).fit(shown, wrong)
    assert share(detector, later, truth) > 0.95


def test_conventions_of_scikit_learn() -> None:
    base = pytest.importorskip("sklearn.base")
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    selection = pytest.importorskip("sklearn.model_selection")
    shown, verdicts, _ = recordings(150)
    detector = EventDetector(RULE, SYMBOLS, restarts=3, seed=3)
    copy = base.clone(detector)
    assert copy is not detector
    assert copy.get_params() == detector.get_params()
    assert copy.set_params(epochs=30).epochs == 30
    with pytest.raises(LearningError, match="epoch"):
        copy.set_params(epoch=3)
    steps = preprocessing.FunctionTransformer(lambda many: [one / 100 for one in many])
    chain = pipeline.make_pipeline(steps, detector)
    assert chain.fit(shown, verdicts).score(shown, verdicts) > 0.9
    assert len(chain.predict(shown[:2])) == 2
    assert selection.cross_val_score(detector, shown, verdicts, cv=2).mean() > 0.85


@pytest.mark.filterwarnings("ignore:verdicts of held-out")
def test_equal_seeds_give_equal_detectors() -> None:
    shown, verdicts, _ = recordings(60)
    first, second = (EventDetector(RULE, SYMBOLS, restarts=2, epochs=3).fit(shown, verdicts) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(shown[0]), second.predict_proba(shown[0]))


def test_a_saved_detector_says_the_same(fitted: EventDetector, tmp_path: Path) -> None:
    loaded = EventDetector.load(fitted.save(tmp_path / "detector.pt"))
    assert loaded.tasks == RULE
    assert loaded.symbols == SYMBOLS
    np.testing.assert_array_equal(loaded.predict_proba(CENTRES), fitted.predict_proba(CENTRES))
    assert loaded.judge(CENTRES[[0, 1]]).verdict
    assert RULE in loaded.card()


@pytest.mark.parametrize("suffix", ["onnx", "pt"])
def test_an_exported_detector_says_the_same(fitted: EventDetector, tmp_path: Path, suffix: str) -> None:
    shown = recordings(5, seed=2)[0][0].astype(np.float32)
    if suffix == "onnx":
        runtime = pytest.importorskip("onnxruntime")
        pytest.importorskip("onnxscript")
    path = fitted.export(tmp_path / f"detector.{suffix}")
    if suffix == "onnx":
        session = runtime.InferenceSession(path)
        (said,) = session.run(None, {"observations": shown})
        assert session.get_modelmeta().custom_metadata_map["rules"] == f'["{RULE}"]'
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = torch.jit.load(path)(torch.from_numpy(shown)).detach().numpy()  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(said, fitted.predict_proba(shown), atol=1e-5)
    with pytest.raises(LearningError, match="docx"):
        fitted.export(tmp_path / "detector.docx")


def test_a_card_names_rule_data_and_quality(fitted: EventDetector) -> None:
    card = fitted.card()
    assert RULE in card
    assert "recordings pass" in card
    assert "judged right" in card


def test_few_informative_recordings_are_warned_of() -> None:
    generator = np.random.default_rng(0)
    shown = [generator.normal(size=(generator.integers(3, 13), 2)) for _ in range(200)]
    detector = EventDetector("F(a & F b) & G !c & G !d", [*SYMBOLS, "d", "e"], restarts=1, epochs=1)
    verdicts = [number % 2 == 0 for number in range(200)]
    assert {("e", "a"), ("e", "b")} <= {(one.read, one.as_) for one in detector.coverage(shown, verdicts).weak}
    with pytest.warns(NrmWarning, match="tell e from"), pytest.warns(NrmWarning, match="do the features show"):
        detector.fit(shown, verdicts)  # of noise
    assert not detector.learned_


def test_recordings_that_suffice_are_not_warned_of() -> None:
    shown, verdicts, _ = recordings(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NrmWarning)
        assert EventDetector(RULE, SYMBOLS, restarts=2, epochs=10).fit(shown, verdicts).learned_


def test_many_steps_are_read_in_parts(fitted: EventDetector, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, verdicts, _ = recordings(40)
    buffer = EpisodeBuffer.for_tasks(TaskSet.of([nrm.compile(RULE, SYMBOLS, reward="acceptance")]), StepTable())
    for one, verdict in zip(shown, verdicts, strict=True):
        buffer.add(one, verdict=verdict)
    assert buffer.distinct == buffer.steps
    batch = buffer.batch()
    parts = list(batch.parts(20))
    assert max(part.steps for part in parts) < 30
    assert torch.equal(torch.cat([part.lengths for part in parts]), batch.lengths)
    whole = passed([fitted.model_.of_task(0)], batch, np.zeros(40, dtype=np.int64), np.array([False, True]))
    monkeypatch.setattr(EpisodeBatch.parts, "__defaults__", (20,))
    assert passed(
        [fitted.model_.of_task(0)], batch, np.zeros(40, dtype=np.int64), np.array([False, True])
    ).tolist() == [fitted.judge(one.astype(np.float32)).verdict for one in shown]
    assert whole.tolist() == verdicts


GOOD = [np.zeros((2, 2)), np.ones((3, 2))]


@pytest.mark.parametrize(
    ("shown", "verdicts", "error", "hint"),
    [
        (GOOD, [True, True], EpisodeError, "all 2 recordings pass"),
        (GOOD, [False, False], EpisodeError, "all 2 recordings fail"),
        (GOOD, [True], EpisodeError, "2 recordings"),
        (GOOD, ["yes", "no"], EpisodeError, "yes"),
        (GOOD, [0, 2], EpisodeError, "2"),
        ([GOOD[0], np.array([[0.0, math.nan]])], [True, False], EpisodeError, "recording 1, step 0"),
        ([GOOD[0], [[0.0], [0.0, 1.0]]], [True, False], EpisodeError, "recording 1"),
        ([GOOD[0], np.zeros((2, 3))], [True, False], EpisodeError, r"recording 1 .*\(3,\)"),
        ([GOOD[0], np.zeros((0, 2))], [True, False], EpisodeError, "recording 1 has no steps"),
        ([], [], EpisodeError, "no recordings"),
        (np.zeros((4, 2)), [True, False], EpisodeError, "lengths"),
    ],
)
def test_bad_recordings(shown: Any, verdicts: Any, error: type[Exception], hint: str) -> None:
    with pytest.raises(error, match=hint):
        EventDetector(RULE, SYMBOLS).fit(shown, verdicts)


@pytest.mark.parametrize(
    ("rule", "symbols", "error"),
    [
        ("F a", ["a"], AlphabetError),
        ("F a", "ab", AlphabetError),
        ("F z", SYMBOLS, UnknownSymbolError),
        ("true", SYMBOLS, LearningError),
        ("F a & G !a", SYMBOLS, LearningError),
        ("X X true", SYMBOLS, LearningError),
        ([], SYMBOLS, LearningError),
    ],
)
def test_bad_rules(rule: Any, symbols: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        EventDetector(rule, symbols).fit(GOOD, [True, False])


def test_a_verdict_that_no_reading_allows_is_named() -> None:
    with pytest.raises(ContradictionError, match="recording 1, step 0") as found:
        EventDetector("F(a & X b)", SYMBOLS).fit([GOOD[0], np.zeros((1, 2))], [False, True])
    assert found.value.episode == 1


def test_bad_extras(fitted: EventDetector) -> None:
    with pytest.raises(EpisodeError, match="'z'"):
        EventDetector(RULE, SYMBOLS).fit(GOOD, [True, False], labels=[["z", None], None])
    with pytest.raises(EpisodeError, match="1 labels for 2 steps"):
        EventDetector(RULE, SYMBOLS).fit(GOOD, [True, False], labels=[["a"], None])
    with pytest.raises(EpisodeError, match="sum to 4"):
        EventDetector(RULE, SYMBOLS).fit(np.zeros((5, 2)), [True, False], lengths=[2, 2])
    with pytest.raises(EpisodeError, match="stand apart"):
        EventDetector(RULE, SYMBOLS).fit(np.zeros((3, 2)), [True, False], groups=[0, 1, 0])
    with pytest.raises(EpisodeError, match=r"recording 0.*'G z'"):
        fitted.score(GOOD[:1], [True], tasks=["G z"])
    with pytest.raises(LearningError, match="fit"):
        EventDetector(RULE, SYMBOLS).predict(GOOD[0])


def test_symbols_as_text_and_feature_names_are_kept(tmp_path: Path, fitted: EventDetector) -> None:
    shown, verdicts, _ = recordings(20)
    assert EventDetector(RULE, "a b c").coverage(shown, verdicts) == fitted.coverage(shown, verdicts)
    plain = EventDetector.load(fitted.save(tmp_path / "plain.pt"))
    assert plain.model_.feature_names is None
    plain.model_.feature_names = ("x", "y")
    again = EventDetector.load(plain.save(tmp_path / "named.pt"))
    assert EventDetector.load(again.save(tmp_path / "again.pt")).model_.feature_names == ("x", "y")
