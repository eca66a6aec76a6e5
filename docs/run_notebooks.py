"""Run the notebooks of the documentation, and keep what their cells print: `python docs/run_notebooks.py`.

Cells run one after the other in a fresh folder. A cell shows what it prints and the value of its last expression, as in
Jupyter. Notebooks have no pictures and no execution counts, so that they change only when their results do.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "get-started"


def executed(code: str, names: dict[str, Any]) -> str:
    """What a cell shows."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                print(repr(value))
    return printed.getvalue()


def run(path: Path) -> dict[str, Any]:
    """The notebook with new outputs."""
    notebook: dict[str, Any] = json.loads(path.read_text())
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    shown = executed("".join(cell["source"]), names)
                    stream = {"name": "stdout", "output_type": "stream", "text": shown.splitlines(keepends=True)}
                    cell["outputs"] = [stream] if shown else []
        finally:
            os.chdir(before)
    return notebook


def main() -> None:
    """Run all, or those that are named."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(FOLDER.glob("*.ipynb")):
        path.write_text(json.dumps(run(path), indent=1, ensure_ascii=False) + "\n")
        print(path)


if __name__ == "__main__":
    main()
