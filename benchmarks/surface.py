"""How large the library is: lines, files, settings, constants, imports past `__init__`, case distinctions, words.

    python -m benchmarks.surface            # count
    python -m benchmarks.surface --check    # exit status 1 where a figure exceeds that of benchmarks/surface.json
    python -m benchmarks.surface --write    # lower the figures of that file to what is counted; none is raised

`make lint` checks. A figure is raised by hand, in a commit of its own that says what users get for it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import tyro

from benchmarks.common import report

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "nrm"
FIGURES = Path(__file__).with_suffix(".json")
QUESTIONS = {
    "table or decision diagram?": r"is_wide|MoveDiagram|as_diagram|LetterFunction|\.diagram\b|diagram_",
    "one task or many?": r"tasks_of\(|TaskSet|Task(Belief|State)?Memory|\.many\b|tasks is (not )?None",
    "joint or independent symbol probabilities?": r"\bemission\b|is_exclusive|is_free|\.counts\b|letter_probs",
    "can observations be enumerated?": r"frames is (not )?None|\.frames\b|\blisted\b|\bendless\b",
    "does the grounder have a memory?": r"recurrence|RecurrentGrounder|\brecurrent\b",
}
"""Lines that ask a question that a type should answer, once."""
WORDS = (
    r"obeys?|obeyed|restless\w*|set-?backs?|drawn anew|busy cores?|scratch programs?|what binds|without end|endless|"
    r"bursts?|misread|flips|crisp|told|penalised|paid_at_end|unpaid_end|setback_weight|entropy_weight|critic_weight|gradient_norm"
)
"""Home-made words for which the field has a usual one."""


@dataclass(frozen=True)
class Config:
    """Count, and compare with the figures that are checked in."""

    check: bool = False
    """Fail where a figure is exceeded."""
    write: bool = False
    """Lower the figures to what is counted."""


def sources() -> Iterator[tuple[Path, str]]:
    """Every module of the library, and its text."""
    return ((path, path.read_text()) for path in sorted(SOURCE.rglob("*.py")))


def constants(text: str) -> int:
    """Numbers that a module calls by a name in capitals."""
    found = 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            found += sum(name.strip("_").isupper() for name in names) if _is_number(node.value) else 0
    return found


def _is_number(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_number, value.elts))
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def past_the_door(path: Path, text: str) -> int:
    """Imports from inside another package, where its `__init__` should be asked."""
    own = path.relative_to(SOURCE).parts[0]
    modules = [node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    inside = [module.split(".") for module in modules if module.startswith("nrm.") and module.count(".") >= 2]
    return sum(parts[1] != own and (SOURCE / parts[1]).is_dir() for parts in inside)


def settings() -> int:
    """How many fields a user can set."""
    return len(declared())


def declared() -> set[tuple[type, str]]:
    """Fields that a user can set: of commands, of runs and their sections, of samplers, of fits and of grids.

    One that several commands or algorithms inherit is declared once, and counts once.
    """
    from nrm.agents import ALGORITHMS, METHODS, NetworkConfig
    from nrm.cli import _COMMANDS
    from nrm.cli.train import Train
    from nrm.envs import ENVS
    from nrm.neural import FitConfig
    from nrm.samplers import SAMPLERS, TaskSetConfig
    from nrm.sweeps import Grid

    kinds: set[Any] = {
        *_COMMANDS,
        Train,
        NetworkConfig,
        TaskSetConfig,
        FitConfig,
        Grid,
        *(one if isinstance(one, type) else type(one) for one in SAMPLERS.values()),
    }
    kinds |= {one.config for one in METHODS.values()} | {one.config for one in ALGORITHMS.values()}
    kinds |= {type(config) for kind in ENVS.values() for config in _configs(kind)}
    found: set[tuple[type, str]] = set()
    for kind in kinds - {None}:
        names = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
        found |= {(base, name) for base in kind.__mro__ for name in names & set(vars(base).get("__annotations__", {}))}
    return found


def _configs(kind: Any) -> Iterator[Any]:
    from nrm.envs import find_env

    for name in kind.env_names:
        example = {"minigrid:ID": "minigrid:MiniGrid-LavaGapS5-v0", "gym:ID": "gym:CartPole-v1"}.get(name, name)
        yield find_env(example)


def asking(texts: list[tuple[Path, str]], pattern: str) -> tuple[int, int]:
    """How many lines ask a question, and in how many packages. A type in a signature does not ask: a condition does."""
    found = [path for path, text in texts for _ in _conditions(text, pattern)]
    return len(found), len({path.relative_to(SOURCE).parts[0] for path in found})


def _conditions(text: str, pattern: str) -> set[int]:
    """The lines of a module on which a condition that matches the pattern begins."""
    tests = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            tests.append(node.test)
        elif isinstance(node, ast.BoolOp | ast.Compare):
            tests.append(node)
        elif isinstance(node, ast.comprehension):
            tests += node.ifs
        elif isinstance(node, ast.Match):
            tests += [node.subject, *(case.pattern for case in node.cases)]  # type: ignore[list-item]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "getattr", "hasattr"):
            tests.append(node)
    return {test.lineno for test in tests if re.search(pattern, ast.unparse(test))}


def code_lengths(text: str) -> list[int]:
    """The lengths of a module's lines of code: no blank lines, comments or docstrings."""
    tree = ast.parse(text)
    quoted = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    prose = {line for node in quoted for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = enumerate(text.splitlines(), start=1)
    return [len(line) for number, line in lines if line.strip() and line.strip()[0] != "#" and number not in prose]


def help_lines(*command: str) -> int:
    """The lines that a command's `--help` prints."""
    from nrm.cli import main as command_line

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        command_line([*command, "--help"])
    return len(printed.getvalue().splitlines())


def counted() -> dict[str, int]:
    """Every figure, by its name."""
    texts = list(sources())
    asked = {name: asking(texts, pattern) for name, pattern in QUESTIONS.items()}
    # Names that packages export are lines of code, wherever they stand.
    stubs = [path.read_text() for path in SOURCE.rglob("*.pyi")]
    lengths = [length for text in [*stubs, *(text for _, text in texts)] for length in code_lengths(text)]
    pages = [*(text for _, text in texts), *(path.read_text() for path in (ROOT / "docs").rglob("*.md"))]
    pages.append((ROOT / "README.md").read_text())
    return {
        "lines of src": sum(len(text.splitlines()) for text in [*stubs, *(text for _, text in texts)]),
        "files of src": len(texts),
        "longest file": max(len(text.splitlines()) for _, text in texts),
        "mean length of code lines, in tenths": round(10 * sum(lengths) / len(lengths)),
        "settings": settings(),
        "numeric module constants": sum(constants(text) for _, text in texts),
        "imports past a package's door": sum(past_the_door(path, text) for path, text in texts),
        **{name: lines for name, (lines, _) in asked.items()},
        **{f"{name} (packages)": packages for name, (_, packages) in asked.items()},
        "lines of nrm train --help": help_lines("train"),
        "home-made words": sum(len(re.findall(rf"\b({WORDS})\b", page)) for page in pages),
    }


def main(config: Config) -> int:
    """Count, print, and compare."""
    found = counted()
    allowed: dict[str, int] = json.loads(FIGURES.read_text()) if FIGURES.exists() else dict(found)
    over = [name for name, value in found.items() if value > allowed.get(name, value)]
    rows = [
        (name, value, allowed.get(name, value), "exceeded" if name in over else "") for name, value in found.items()
    ]
    report("Surface", ("figure", "counted", "allowed", ""), rows, ROOT / "out" / "bench", "surface")
    if config.write:
        lowered = {name: min(value, allowed.get(name, value)) for name, value in found.items()}
        FIGURES.write_text(json.dumps(lowered, indent=2) + "\n")
    return 1 if config.check and over else 0


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Config)))
