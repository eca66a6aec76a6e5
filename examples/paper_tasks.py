"""Compile and draw the paper's eight tasks: one picture and one JSON file each, and a page that shows them all."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

import tyro

import nrm

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
section { border-top: 1px solid #ccc; padding: 1rem 0; }
h2 { font-size: 1.1rem; margin: 0; }
img { max-width: 100%; }
code { background: #f2f2f2; padding: 0.1rem 0.3rem; }
"""


@dataclass(frozen=True)
class Config:
    """Draw the paper's tasks."""

    out: Path = Path("out/demo")
    """The folder for pictures, machines and the page."""


def section(task: nrm.logic.PaperTask, machine: nrm.MooreMachine, picture: str) -> str:
    """One task of the page."""
    levels = ", ".join(f"{level:.4g}" for level in machine.levels)
    return (
        f"<section><h2>Task {task.number}: {html.escape(task.pattern)}</h2>"
        f"<p><code>{html.escape(str(task.formula()))}</code> &mdash; {machine.states} states, potentials {levels}</p>"
        f'<img src="{picture}" alt="machine of task {task.number}"></section>'
    )


def main(config: Config) -> None:
    """Write everything, and say where."""
    config.out.mkdir(parents=True, exist_ok=True)
    sections = []
    for task in nrm.logic.PAPER_TASKS:
        machine = nrm.compile(task.formula(), nrm.logic.PAPER_SYMBOLS)
        picture = f"task-{task.number}.svg"
        nrm.draw(machine, config.out / picture)
        nrm.save_machine(machine, config.out / f"task-{task.number}.json")
        sections.append(section(task, machine, picture))
        print(f"task {task.number}  {task.formula()!s:<28} {machine.states} states")
    page = config.out / "index.html"
    intro = "<h1>The paper's eight tasks</h1><p>Blue is success, orange failure; a double ring accepts.</p>"
    page.write_text(
        f"<!doctype html><meta charset='utf-8'><title>Tasks</title><style>{STYLE}</style>{intro}{''.join(sections)}",
        encoding="utf-8",
    )
    print(f"\nOpen {page} to see the machines with their rewards.")


if __name__ == "__main__":
    main(tyro.cli(Config))
