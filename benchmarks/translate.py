"""Translation of LTLf to a minimal DFA: ours beside ltlf2dfa with MONA, in one run.

The other side is ltlf2dfa's fastest form: parse, run MONA, and stop at MONA's own output. Both read propositional
letters. A `mona` program must be installed; without one only our side is measured. Times are seconds of the processor,
those of MONA's process included, so that other work on the machine counts for neither; ltlf2dfa's limit of 30 seconds
is by the clock.
"""

from __future__ import annotations

import random
import re
import resource
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tyro

from benchmarks.common import processor_seconds, report, timed
from benchmarks.results import Benchmark, Headline, Row, complete
from nrm.errors import LimitError
from nrm.logic import PAPER_TASKS, Formula, parse, translate
from nrm.logic.ltlf.formula import Op, atom

DECLARE = ("response", "precedence", "chain_response", "alternate_response", "responded_existence", "not_coexistence")
UNARY = (Op.NOT, Op.NEXT, Op.WEAK_NEXT, Op.EVENTUALLY, Op.ALWAYS)
UNANSWERED = "none"
"""MONA gave no answer within 30 seconds, or ran out of nodes."""
LIMIT = "limit"
"""We gave no answer within our limits."""
EXPLODING, RANDOM = "exploding", "random"
FORMULAS = 20
"""Random formulas of each size."""
MEMORY = 4
"""Gigabytes that this program, and MONA, may have: MONA may ask for all that there are."""
TIMES = ("ours_ms", "mona_ms", "ratio")
TABLES = {
    "written": ("task", "states", "ours_ms", "mona_states", "mona_ms", "ratio"),
    "random": ("task", *TIMES, "worst_ours_ms", "worst_mona_ms", "worst_ratio", "limits", "mona_limits"),
}
"""Columns of the tables that are printed."""
BINARY = (Op.AND, Op.OR, Op.IMPLIES, Op.IFF, Op.UNTIL, Op.RELEASE)


@dataclass(frozen=True)
class Config:
    """Compare translations."""

    out: Path = Path("out/bench")
    """Where the tables go."""
    seed: int = 3000
    """Seed of the random formulas."""


def names(count: int) -> list[str]:
    """`p0`, `p1`, ... as ltlf2dfa reads them too."""
    return [f"p{index}" for index in range(count)]


def sequence(count: int) -> str:
    """Places one after the other, or at once."""
    return f"sequenced_visit({', '.join(names(count))})"


def with_hazards(count: int) -> str:
    """A sequence of four, with all other propositions to be avoided."""
    return " & ".join([sequence(4), *(f"G !{name}" for name in names(count)[4:])])


def responses(count: int) -> str:
    """Each proposition of even number is answered by its neighbour."""
    return " & ".join(f"G(p{index} -> F p{index + 1})" for index in range(0, count, 2))


def exclusion(count: int) -> str:
    """No two at once."""
    return "G(" + " & ".join(f"!(p{one} & p{two})" for two in range(count) for one in range(two)) + ")"


def deliveries(count: int) -> str:
    """Collect at a place, deliver at another, again and again: the form of LTLf2DFA's issue 39, of two places each."""
    text = ""
    for place in reversed(range(2, count)):
        deed = "p1" if place % 2 else "p0"
        text = f"F(p{place} & X({deed}{' & X ' + text if text else ''}))"
    return text


def declared(count: int) -> str:
    """Constraints of six kinds over eight propositions."""
    return " & ".join(f"{DECLARE[i % len(DECLARE)]}(p{i % 8}, p{(i + 1) % 8})" for i in range(count))


FAMILIES: dict[str, tuple[Callable[[int], str], Sequence[int]]] = {
    "visits": (lambda count: f"visit({', '.join(names(count))})", (2, 4, 6, 8, 10, 12, 13, 14, 16)),
    "sequence": (sequence, (2, 5, 8, 11, 14, 17, 18, 20, 30, 40)),
    "sequence of 4 with hazards": (with_hazards, (5, 8, 12, 16, 24, 32, 40)),
    "responses": (responses, (2, 4, 8, 12, 16, 18, 20, 24, 26)),
    "mutual exclusion": (exclusion, (2, 5, 10, 15, 20, 30, 40)),
    "deliveries": (deliveries, (4, 6, 8, 10, 12, 22, 40)),
    "declare": (declared, (4, 6, 8, 10, 12)),
}
"""The tasks that people write: formulas by size, which is the number of propositions (of constraints, for declare)."""


def families() -> Iterator[tuple[str, str, Formula]]:
    """Family, name and formula of each task, small ones of a family first."""
    for task in PAPER_TASKS:
        yield "paper", f"paper {task.number}", task.formula()
    for family, (text, sizes) in FAMILIES.items():
        for size in sizes:
            yield family, f"{family} {size}", parse(text(size))


def random_formula(generator: random.Random, size: int) -> Formula:
    """A formula of `size` nodes over four atoms."""
    if size <= 1:
        return atom(generator.choice("abcd"))
    if size == 2 or generator.random() < 0.45:
        return Formula(generator.choice(UNARY), (random_formula(generator, size - 1),))
    left = generator.randint(1, size - 2)
    parts = (random_formula(generator, left), random_formula(generator, size - 1 - left))
    return Formula(generator.choice(BINARY), parts)


def for_ltlf2dfa(formula: Formula) -> str:
    """The formula with every parenthesis, in the operators that ltlf2dfa has."""
    text: dict[Formula, str] = {}
    for node in formula.postorder():
        args = [text[arg] for arg in node.args]
        if node.op is Op.ATOM:
            text[node] = node.name
        elif node.op is Op.WEAK_UNTIL:
            text[node] = f"(({args[0]} U {args[1]}) | G({args[0]}))"
        elif len(args) == 1:
            text[node] = f"{node.op.value}({args[0]})"
        else:
            text[node] = "(" + f" {node.op.value} ".join(args) + ")"
    return text[formula]


def ours(text: str) -> tuple[int | str, float]:
    """States and seconds, from text to minimal automaton over all subsets of the atoms."""

    def work() -> int | str:
        try:
            return translate(text, exclusive=False).states
        except LimitError:
            return LIMIT

    return timed(work, clock=processor_seconds)


@cache
def ltlf2dfa_parser() -> Any:
    """Built once, as ours is."""
    from ltlf2dfa.parser.ltlf import LTLfParser

    return LTLfParser()


def monas(text: str) -> tuple[int | str, float]:
    """States and seconds of ltlf2dfa with MONA; its state 0, which reads no letter, is not counted."""
    from ltlf2dfa.ltlf2dfa import to_dfa

    parser = ltlf2dfa_parser()

    def work() -> int | str:
        output = to_dfa(parser(text), mona_dfa_out=True)
        if not output:
            return UNANSWERED
        found = re.search(r"has (\d+) state", output)
        return int(found.group(1)) - 1 if found else 1

    return timed(work, clock=processor_seconds)


GIVEN_UP: set[str] = set()
"""Families of which MONA has not answered a task: larger ones are not tried with it."""


def task_row(family: str, name: str, text: str) -> Row:
    """One formula: states and milliseconds of both sides. MONA's may be missing."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY << 30, resource.RLIM_INFINITY))
    states, seconds = ours(text)
    row: Row = {"task": name, "family": family, "states": states, "ours_ms": seconds * 1e3}
    if shutil.which("mona") is None or family in GIVEN_UP or family == EXPLODING:
        return row
    their_states, their_seconds = monas(for_ltlf2dfa(parse(text)))
    if their_states == UNANSWERED:
        GIVEN_UP.update({family} - {RANDOM})
        return row | {"mona_states": UNANSWERED}
    return row | {"mona_states": their_states, "mona_ms": their_seconds * 1e3, "ratio": their_seconds / seconds}


def random_row(size: int, seed: int) -> Row:
    """Some random formulas of a size: medians and extremes; those without an answer have no time."""
    generator = random.Random(seed + size)
    texts = [str(random_formula(generator, size)) for _ in range(FORMULAS)]
    rows = [task_row(RANDOM, f"random {size}", text) for text in texts]
    times = {name: [row[name] for row in rows if name in row] for name in ("ours_ms", "mona_ms", "ratio")}
    limits = {
        "limits": sum(row["states"] == LIMIT for row in rows),
        "mona_limits": sum(row.get("mona_states") == UNANSWERED for row in rows),
    }
    found = {name: statistics.median(values) for name, values in times.items() if values}
    worst = {f"worst_{name}": max(times[name]) for name in ("ours_ms", "mona_ms") if times[name]}
    worst |= {"worst_ratio": min(times["ratio"])} if times["ratio"] else {}
    what = {"task": f"random {size}", "family": RANDOM, "size": size, "seed": seed}
    return {**what, **limits, **found, **worst}


def run(kind: str, *given: Any) -> Row:
    """One row."""
    return task_row(*given) if kind == "task" else random_row(*given)


def jobs(seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """The tasks that people write, those whose answer itself explodes, and random ones of each seed."""
    written = {name: ("task", family, name, str(formula)) for family, name, formula in families()}
    # "The n-th step before the last is an a": every automaton needs about 2^n states.
    steps = {f"a {n} steps before the end": "F(a & " + "X " * n + "last)" for n in (8, 12, 14, 18, 24)}
    exploding = {name: ("task", EXPLODING, name, text) for name, text in steps.items()}
    drawn = {f"random {size} {seed}": ("random", size, seed) for seed in seeds for size in range(10, 101, 10)}
    return written | exploding | drawn


BENCHMARKS = {
    "translation": Benchmark(
        Headline("translation", "python -m benchmarks.headline translation", TIMES, ("family",)),
        jobs,
        run,
    )
}


def main(config: Config) -> None:
    """Measure and print."""
    (benchmark,) = BENCHMARKS.values()
    rows = complete(benchmark.headline, jobs((config.seed,)), run, folder=config.out)["rows"]
    for family, columns in TABLES.items():
        mine = [row for row in rows if row["family"] == family or (family == "written" and "size" not in row)]
        table = [[row.get(name, "-") for name in columns] for row in mine]
        report(f"Translation, {family}", columns, table, config.out, f"translate_{family}")


if __name__ == "__main__":
    main(tyro.cli(Config))
