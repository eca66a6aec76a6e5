"""Data flows one way, and so do imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nrm

ROOT = Path(nrm.__file__).parent
CONTRIBUTING = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| ([\w, ]+|) \| .* \|$", CONTRIBUTING, re.MULTILINE)
FOLDERS = [folder for folder, _ in ROWS]
ALLOWED = {folder: set(FOLDERS if lower == "all" else lower.split(", ")) for folder, lower in ROWS}
"""What each folder may import, besides itself: the table in CONTRIBUTING.md."""
SHARED = {"errors", "aliases", "files", "registration", "registry", "settings", "observations"}
WITHOUT_TORCH = ("automata", "logic", "machines", "shortcuts", "samplers", "inference")


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
            assert part in ALLOWED[folder] | {folder} | SHARED, f"{path.relative_to(ROOT)} imports {module}"
        if folder in WITHOUT_TORCH:
            assert module.split(".")[0] != "torch", f"{path.relative_to(ROOT)} imports torch"


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_table_lists_what_is_imported_and_no_more(folder: str) -> None:
    assert ALLOWED[folder] - {""} <= set(FOLDERS[: FOLDERS.index(folder)]) or folder == "cli"
    paths = (ROOT / folder).rglob("*.py")
    parts = {module.split(".")[1] for path in paths for module in imported_modules(path) if module.startswith("nrm.")}
    assert folder == "cli" or parts - {folder} - SHARED == ALLOWED[folder] - {""}


def test_every_folder_is_known() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders <= set(ALLOWED)


def test_importing_the_library_does_not_import_torch_or_gymnasium() -> None:
    code = "import sys, nrm; assert not {'torch', 'gymnasium'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_exist() -> None:
    for name in nrm.__all__:
        assert getattr(nrm, name) is not None


def test_packages_load_when_they_are_used_and_nothing_else_shows() -> None:
    code = "import nrm; assert nrm.neural.fit is nrm.fit; assert not {'sys', 'Any', 'import_module'} & set(dir(nrm))"
    subprocess.run([sys.executable, "-c", code], check=True)
