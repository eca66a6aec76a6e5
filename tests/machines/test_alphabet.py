from __future__ import annotations

import pytest

from nrm import Alphabet
from nrm.errors import AlphabetError, TraceError, UnknownSymbolError

EXCLUSIVE = Alphabet.exclusive(["pickaxe", "lava", "empty-cell"])
PROPOSITIONS = Alphabet.propositional(["key", "door"])


def test_letters_of_both_kinds() -> None:
    assert EXCLUSIVE.size == 3
    assert EXCLUSIVE.encode(["lava", ("pickaxe",), {"empty-cell"}]) == [1, 0, 2]
    assert EXCLUSIVE.decode([1, 0]) == ["lava", "pickaxe"]
    assert PROPOSITIONS.size == 4
    assert PROPOSITIONS.encode(["key", (), {"door", "key"}, ["door"]]) == [1, 0, 3, 2]
    assert PROPOSITIONS.decode([0, 3]) == [(), ("key", "door")]
    assert PROPOSITIONS.letter_masks().tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert EXCLUSIVE.letter_masks().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("alphabet", [EXCLUSIVE, PROPOSITIONS])
def test_letter_names_read_back(alphabet: Alphabet) -> None:
    for letter in range(alphabet.size):
        assert alphabet.letter(alphabet.read_step(alphabet.letter_name(letter))) == letter


def test_typed_traces() -> None:
    assert PROPOSITIONS.read_trace("key + door, -,{}, {key,door},{ door }") == [
        ("key", "door"),
        (),
        (),
        ("key", "door"),
        ("door",),
    ]
    assert EXCLUSIVE.read_trace("lava, {pickaxe},empty-cell") == ["lava", ("pickaxe",), "empty-cell"]
    assert EXCLUSIVE.read_trace(" ") == []


@pytest.mark.parametrize("text", ["key,", ",key", "key,,door", "{key", "key}", "{key}{door}", "{{key}}"])
def test_typed_traces_that_are_none(text: str) -> None:
    with pytest.raises(TraceError, match=r"is empty; write -|is no step"):
        PROPOSITIONS.read_trace(text)


def test_steps_that_map_names_to_truth() -> None:
    assert PROPOSITIONS.letter({"key": True, "door": False}) == 1
    assert EXCLUSIVE.letter({"pickaxe": False, "lava": True}) == 1
    with pytest.raises(TraceError, match=r"\b3\b.*step 1"):
        EXCLUSIVE.encode([3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "empty"),
        (["a", "b", "a"], "'a' is listed 2 times"),
        (["a", "F"], "'F' cannot name a symbol: it is an operator"),
        (["last"], "operator"),
        (["a", ""], "cannot name a symbol"),
        (["a b "], "cannot name a symbol"),
        (["a&b"], "cannot name a symbol"),
        (["a\\b"], "cannot name a symbol"),
        (["\udcff"], "cannot name a symbol"),
        (["a", 3], "named by text, not by int 3"),
    ],
)
def test_bad_alphabets(names: list[str], message: str) -> None:
    with pytest.raises(AlphabetError, match=message):
        Alphabet.exclusive(names)


def test_too_many_propositions() -> None:
    with pytest.raises(AlphabetError, match=r"1001 propositions"):
        Alphabet.propositional(f"p{index}" for index in range(1001))


def test_a_kind_that_does_not_exist() -> None:
    with pytest.raises(AlphabetError, match="'both'"):
        Alphabet.of_kind(("a",), "both")


def test_bad_steps() -> None:
    with pytest.raises(UnknownSymbolError, match=r"'lav'.*step 2.*'lava'"):
        EXCLUSIVE.encode(["lava", "lav"])
    with pytest.raises(TraceError, match=r"2 symbols.*step 1.*\{lava, pickaxe\}"):
        EXCLUSIVE.encode([("pickaxe", "lava")])
    with pytest.raises(TraceError, match="list of steps"):
        EXCLUSIVE.encode("lava")
