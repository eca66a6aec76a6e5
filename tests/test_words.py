"""`python -m benchmarks.words`: what it counts, and that the documentation keeps to it."""

from __future__ import annotations

import pytest
from benchmarks import words

LONG = "One " + "and one more " * 10 + "ends here."


def test_the_documentation_reads_well() -> None:
    found = words.counted()
    assert not any(found.wrong.values()), "\n".join(found.shown)
    assert found.long <= words.SHARE * found.sentences, "\n".join(found.shown)


@pytest.mark.parametrize("text", ["The agent obeys.", "- drawn layouts", "All levels of a world."])
def test_home_made_words_are_found(text: str) -> None:
    assert words.banned(text)


@pytest.mark.parametrize("text", ["`world`", "LetterWorld", "```text\nobey\n```", "| told |", "[page](worlds.md)"])
def test_code_tables_and_names_are_not_prose(text: str) -> None:
    assert not words.banned(text)


def test_sentences_end_with_their_list_item() -> None:
    assert not words.long_sentences("- " + "\n- ".join(["ten short words in a row make no long sentence"] * 5))
    assert len(words.long_sentences(f"Short. {LONG} Short.")) == 1


def test_long_lines_of_code_are_found() -> None:
    assert words.long_lines(f"```sh\n{'x' * 200}\n```")
    assert not words.long_lines(f"{'x' * 200}")
