"""Errors of runs in the words of grid files: what they say of options of `nrm train` is said of fields."""

from __future__ import annotations

import re

_FIELDS = {
    "task": "tasks",
    "machine": "tasks",
    "tasks": "families",
    "method": "methods",
    "end": "end",
    "logic": "logic",
    "grounder": "settings.grounding.initial",
}
"""Fields by option; settings that stand in a section are found by its name."""
_LISTS = ("tasks", "families", "methods", "settings.env.wrappers")
_WORDS = "auto|paper|state|task|mixture|outcome|absorbing|limit|rm|nrm|automata-learning|ltlf|ldlf|ppltl|re"
_VALUE = rf"'[^']*'|[\w.]+:[\w.]+|[\d.]*\d\b|(?:{_WORDS})\b"
"""What is a value behind an option, and not how the sentence goes on."""
_OPTION = re.compile(rf"(?:nrm train )?--(?P<option>[a-z]+(?:[.-][a-z]+)*)(?: (?P<value>{_VALUE}))?")
_SENTENCES = (
    (r"no task is given, and (\S+) has none of its own", r"tasks lists 'own', and \1 has no task of its own"),
    (r"no task is given", r"tasks lists 'own', and the environment has no task of its own"),
    (r"drop --task and --machine", 'write tasks = ["own"]'),
)


def grid_words(message: str) -> str:
    """The message with fields in place of options. Those that are no fields, such as --out, stay."""
    for option, field in _SENTENCES:
        message = re.sub(option, field, message)
    return _OPTION.sub(_field, message)


def _field(found: re.Match[str]) -> str:
    option, value = found["option"], found["value"]
    field = _FIELDS.get(option, f"settings.{option.replace('-', '_')}" if "." in option else "")
    if not field:
        return found[0]
    if value is None:
        return field
    said = value if value.replace(".", "").isdigit() and field not in _LISTS else f'"{value.strip(chr(39))}"'
    return f"{field} = [{said}]" if field in _LISTS else f"{field} = {said}"
