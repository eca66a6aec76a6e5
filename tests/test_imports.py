"""Data flows one way, and so do imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nrm

ROOT = Path(nrm.__file__).parent
# Each folder may import from itself and from what its line lists.
ALLOWED: dict[str, set[str]] = {
    "automata": {"automata"},
    "logic": {"automata", "logic"},
    "machines": {"automata", "logic", "machines"},
    "groundability": {"automata", "logic", "machines", "groundability"},
    "neural": {"logic", "machines", "neural"},
    "envs": {"logic", "machines", "envs"},
    "agents": {"logic", "machines", "groundability", "neural", "envs", "agents"},
    "wrappers": {"machines", "neural", "envs", "agents", "wrappers"},
    "sb3": {"machines", "neural", "envs", "agents", "wrappers", "sb3"},
    "lab": {"logic", "machines", "groundability", "neural", "envs", "agents", "lab"},
    "report": {"logic", "machines", "groundability", "neural", "envs", "agents", "lab", "report"},
    "figures": {"logic", "machines", "groundability", "neural", "envs", "agents", "lab", "figures"},
    "cli": {
        "logic",
        "machines",
        "groundability",
        "neural",
        "envs",
        "agents",
        "lab",
        "figures",
        "report",
        "cli",
        "automata",
    },
}
SHARED = {"errors", "aliases", "files", "registration", "registry", "timing"}
WITHOUT_TORCH = ("automata", "logic", "machines", "groundability")


def imported_modules(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[0]
    if folder not in ALLOWED:
        assert path.parent == ROOT, f"{path}: a folder that the order of folders does not know"
        return
    for module in imported_modules(path):
        if module == "nrm" or module.startswith("nrm."):
            part = module.split(".")[1] if "." in module else "nrm"
            assert part in ALLOWED[folder] | SHARED, f"{path.relative_to(ROOT)} imports {module}"
        if folder in WITHOUT_TORCH:
            assert module.split(".")[0] != "torch", f"{path.relative_to(ROOT)} imports torch"


def test_every_folder_is_known() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders <= set(ALLOWED)


def test_importing_the_library_does_not_import_torch_or_gymnasium() -> None:
    code = "import sys, nrm; assert not {'torch', 'gymnasium'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_exist() -> None:
    for name in nrm.__all__:
        assert getattr(nrm, name) is not None
