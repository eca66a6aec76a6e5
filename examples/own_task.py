"""A task of your own: which of its symbols rewards can teach, and what repairs the others.

A delivery robot has to fetch the mail and a coffee, in any order, then go to the office, and never into the lab. The
analysis needs no training. It suggests labels for a few symbols, a second task, or other potentials.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

import nrm
from nrm.shortcuts import breaking_potential, tasks_to_add

SYMBOLS = ("mail", "coffee", "office", "lab", "plant", "corridor")


@dataclass(frozen=True)
class Config:
    """Analyse a task and repair it."""

    task: str = "F(mail & F office) & F(coffee & F office) & G !lab"
    """A formula over mail, coffee, office, lab, plant, corridor."""
    further: tuple[str, ...] = ("F(plant & F mail)", "F plant & G !mail", "G !coffee")
    """Other tasks for the same robot."""
    out: Path = Path("out/own-task")
    """The folder for the picture and the task file."""


def main(config: Config) -> None:
    """Print what can be learned, and three ways to repair the rest."""
    machine = nrm.compile(config.task, SYMBOLS)
    found = nrm.shortcuts(machine)
    print(f"{found.count} mappings of the symbols earn the same rewards ({found.symmetries} symmetries)")
    for verdict in found.verdicts:
        taught = "rewards can teach it"
        if not verdict.groundable:
            alike = f"treated like {', '.join(verdict.within_class)}" if verdict.within_class else ""
            swapped = f"swapped with {', '.join(verdict.by_symmetry)}" if verdict.by_symmetry else ""
            taught = "; ".join(filter(None, (alike, swapped)))
        print(f"  {verdict.symbol:<9} {taught}")

    print(f"\n1. label {', '.join(found.labels_needed)}: no smaller set of labels leaves only the identity")
    candidates = [nrm.compile(formula, SYMBOLS) for formula in config.further]
    for choice in tasks_to_add(found, candidates):
        print(f"2. add   {' and '.join(config.further[place] for place in choice.places)}: leaves only the identity")
    repair = breaking_potential(found)
    gone = "no symmetry" if repair.removes_every_symmetry else f"{repair.left.symmetries} symmetries"
    print(f"3. pay   reward='{repair.scheme}': {repair.left.count} mappings are left, {gone} among them")

    config.out.mkdir(parents=True, exist_ok=True)
    repaired = nrm.Task(nrm.parse(config.task), nrm.Alphabet.exclusive(SYMBOLS), repair.scheme, "delivery")
    nrm.machines.save_task(repaired, config.out / "delivery.toml")
    nrm.draw(repaired.machine(), config.out / "delivery.svg", config.task)
    print(f"\nsee {config.out / 'delivery.svg'}; train on it with {config.out / 'delivery.toml'}")


if __name__ == "__main__":
    main(tyro.cli(Config))
