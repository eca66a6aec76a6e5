"""Write the tables of the benchmark pages from `benchmarks/results`: `python docs/make_tables.py [--check]`.

A page has `<!-- table NAME -->` and `<!-- end -->`; what stands between them is replaced by the table of that name.
Where a results file is missing, the page stays as it is. What a file does not have is left out or empty.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
RELIABILITY = ROOT / "benchmarks" / "reliability"
PAGES = ROOT / "docs"
MARKED = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
Summary = Mapping[str, Any]

METHODS = {
    "RM": ("rm",),
    "NRM": ("nrm",),
    "RNN": ("rnn",),
    "memoryless": ("memoryless", "none"),
    "blind": ("blind",),
    "frozen random grounder": ("frozen",),
    "return so far": ("return",),
}
"""What tables call the methods, and what results files do."""

TASKS = (
    *("visit(a, b)", "visit(a, b, c)", "sequenced_visit(a, b)", "sequenced_visit(a, b) & visit(c)"),
    *("visit(a, b) & global_avoidance(c)", "visit(a, b) & global_avoidance(c, d)"),
    *("sequenced_visit(a, b) & global_avoidance(c)", "sequenced_visit(a, b) & global_avoidance(c, d)"),
)
FORMULAS = (1, 2, 3, 4, 5)


class Column(NamedTuple):
    """A column: a heading, a score of the summary, which of its statistics, and how it is printed."""

    heading: str
    score: str
    statistic: str = "mean"
    form: Callable[[float], str] = "{:.1f}".format


def percent(value: float) -> str:
    """A share."""
    return f"{100 * value:.1f} %"


def whole(value: float) -> str:
    """A large number."""
    return f"{value:,.0f}"


def success(value: float) -> str:
    """A share, as the field prints it."""
    return f"{value:.3f}"


def interval(summary: Summary, group: str, score: str) -> str:
    """The 95 % interval of a mean that is a share."""
    found = summary.get(group, {}).get(score)
    return "" if found is None else "{:.1f} to {:.1f} %".format(*(100 * end for end in found["interval"]))


def summary(name: str) -> Summary | None:
    """The summary of a results file, if there is one."""
    path = RESULTS / f"{name}.json"
    found: Summary | None = json.loads(path.read_text())["summary"] if path.exists() else None
    return found


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a results file."""
    found: list[dict[str, Any]] = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return found


def drawn(headings: Iterable[str], rows: Iterable[Iterable[str]], left: int = 1) -> str:
    """A table in Markdown; the first columns are texts, the others numbers."""
    names = list(headings)
    rule = ["---" if place < left else "---:" for place in range(len(names))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (names, rule, *map(list, rows)))


def cell(found: Summary, groups: Iterable[str], column: Column) -> str:
    """A number of the first group that is there, or nothing."""
    for group in groups:
        score = found.get(group, {}).get(column.score)
        if score is not None:
            return column.form(score[column.statistic])
    return ""


def by_method(name: str, *columns: Column, task: str = "") -> str | None:
    """A row for each method that was measured."""
    found = summary(name)
    if found is None:
        return None
    rows = []
    for label, names in METHODS.items():
        groups = [f"{one} {task}".strip() if task else one for one in names]
        if any(group in found for group in groups):
            rows.append([label, *(cell(found, groups, column) for column in columns)])
    return drawn(["method", *(column.heading for column in columns)], rows)


def patrol() -> str | None:
    """Sixteen visits in order."""
    percents = "{:.0%}".format
    return by_method(
        "single-patrol",
        Column("test return", "test"),
        Column("worst seed", "test", "min"),
        Column("success", "success", form=lambda value: percents(value).replace("%", " %")),
        Column("with rewards read", "with_rewards"),
        Column("CPU s", "cpu_seconds", form=whole),
    )


def single(name: str, score: str) -> str | None:
    """A score of each method on each of the paper's tasks."""
    found = summary(name)
    if found is None:
        return None
    shown = {label: names for label, names in METHODS.items() if any(one in found for one in names)}
    rows = [
        [
            f"{number}: `{task}`",
            *(cell(found, [f"{number} {one}" for one in names], Column("", score)) for names in shown.values()),
        ]
        for number, task in enumerate(TASKS, 1)
    ]
    return drawn(["task", *shown], rows)


def letter_world() -> str | None:
    """LetterWorld beside published systems."""
    ours, published = summary("letter-world"), summary("published")
    if ours is None or published is None:
        return None
    rows = []
    for system in ("LTL2Action", "GCRL-LTL", "DeepLTL"):
        one = published[f"{system}, LetterWorld"]
        numbers = map(success, (*one["formulas"], one["mean"]))
        rows.append([f"{system}, published", "given", "15 million", *numbers])
    derived = ours.get("derived", {})
    for label, symbols in {"RM": "given", "NRM": "learned", "RNN": "learned"}.items():
        group = f"{label.lower()} renamed"
        if group in ours:
            each = [derived.get(f"{label}, renamed, success, formula {number}") for number in FORMULAS]
            cells = ["" if one is None else success(one) for one in each]
            frames = cell(ours, [group], Column("", "frames", form=whole))
            rows.append([label, symbols, frames, *cells, cell(ours, [group], Column("", "formulas", form=success))])
    return drawn(["", "symbols", "steps", *map(str, FORMULAS), "mean"], rows, left=2)


def letter_world_sets() -> str | None:
    """The other test sets of LetterWorld."""
    ours = summary("letter-world")
    if ours is None:
        return None
    names = {
        "the five formulas": "formulas",
        "the published tasks": "tasks",
        "the five formulas on the published maps": "formulas on maps",
        "the published tasks on the published maps": "tasks on maps",
        "12 symbols in a row, longer than in training": "reach 12",
        "6 symbols in a row with others to avoid": "reach and avoid 6",
    }
    methods = [label for label in ("RM", "NRM", "RNN") if f"{label.lower()} renamed" in ours]
    rows = [
        [
            text,
            *(
                cell(ours, [f"{label.lower()} renamed"], Column("", score, statistic, success))
                for label in methods
                for statistic in ("mean", "min")
            ),
        ]
        for text, score in names.items()
    ]
    return drawn(["test set", *(f"{label}{end}" for label in methods for end in ("", ", worst seed"))], rows)


def flat_world() -> str | None:
    """FlatWorld beside DeepLTL."""
    ours, published = summary("flat-world"), summary("published")
    if ours is None or published is None:
        return None
    theirs = published["DeepLTL, FlatWorld"]
    rows = [["DeepLTL, published", "given", "15 million", *map(success, theirs["formulas"]), success(theirs["mean"])]]
    derived = ours.get("derived", {})
    for method, symbols in {"rm": "given", "nrm": "learned"}.items():
        for actions in ("discrete", "continuous"):
            group = f"{method} {actions}"
            if group in ours:
                each = [derived.get(f"{group}, published {number}") for number in FORMULAS]
                cells = ["" if one is None else success(one) for one in each]
                frames, mean = Column("", "frames", form=whole), Column("", "published", form=success)
                label = f"{method.upper()}, {actions}"
                rows.append([label, symbols, cell(ours, [group], frames), *cells, cell(ours, [group], mean)])
    return drawn(["", "symbols", "steps", *map(str, FORMULAS), "mean"], rows, left=2)


def zones() -> str | None:
    """Zones beside published systems."""
    ours, published = summary("zones"), summary("published")
    if ours is None or published is None:
        return None
    theirs = published["DeepLTL, ZoneEnv"]
    given = ["DeepLTL, published", "given", "15 million", *map(success, theirs["formulas"]), success(theirs["mean"])]
    rows = [[*given, ""]]
    derived = ours["derived"]
    for method, symbols in {"rm": "given", "nrm": "learned"}.items():
        for actions in ("sampled", "best"):
            if method in ours:
                each = [success(derived[f"{method} {actions} {number}"]) for number in range(1, 7)]
                frames, mean, runs = (
                    cell(ours, [method], column)
                    for column in (
                        Column("", "frames", form=whole),
                        Column("", actions, form=success),
                        Column("", actions, "runs", whole),
                    )
                )
                rows.append([f"{method.upper()}, {actions} actions", symbols, frames, *each, mean, runs])
    return drawn(["", "symbols", "steps", *map(str, range(1, 7)), "mean", "seeds"], rows, left=2)


def flat_tuning() -> str | None:
    """Settings compared in FlatWorld."""
    found = summary("flat-tuning")
    if found is None:
        return None
    columns = [
        Column("random", "random", form=success),
        Column("nested until", "nests", form=success),
        Column("seeds", "random", "runs", whole),
    ]
    names = {
        "all mechanisms rm discrete": "RM, all five mechanisms",
        "no stuck_noise rm discrete": "RM, without noise for agents that are stuck",
        "no terminal_reward rm discrete": "RM, without terminal reward",
        "no exit_penalty rm discrete": "RM, without a penalty for leaving",
        "no curriculum rm discrete": "RM, without curriculum",
        "horizon alone rm discrete": "RM, training horizon alone",
        "horizon alone nrm discrete": "NRM, training horizon alone",
        "horizon alone, grounding updates as elsewhere nrm discrete": "NRM, and the usual grounding updates, shipped",
    }
    rows = [
        [text, *(cell(found, [group], column) for column in columns)] for group, text in names.items() if group in found
    ]
    return drawn(["settings", *(column.heading for column in columns)], rows)


def hidden_symbols() -> str | None:
    """Symbols that one observation does not show."""
    found = summary("hidden-symbols")
    if found is None:
        return None
    names = {
        "RM, given the true state": "RM",
        "NRM, recurrent grounder": "NRM, recurrent",
        "NRM, plain grounder": "NRM, plain",
        "PPO, no memory": "PPO",
        "RecurrentPPO": "RecurrentPPO",
    }
    columns = [
        Column("success", "success", form=percent),
        Column("worst seed", "success", "min", percent),
        Column("steps named", "accuracy", form=percent),
        Column("CPU s", "cpu_seconds", form=whole),
    ]
    rows = []
    for text, group in names.items():
        cells = [cell(found, [group], column) for column in columns]
        rows.append([text, cells[0], interval(found, group, "success"), *cells[1:]])
    return drawn(["method", "success", "interval", *(column.heading for column in columns[1:])], rows)


def grounding() -> str | None:
    """Grounding from episodes of a random policy."""
    if summary("grounding") is None:
        return None
    kinds = (("map", "em"), ("map", "sequence"), ("image", "em"))
    measured = rows_of("grounding")

    def cells(task: int | None) -> list[str]:
        found = []
        for env, objective in kinds:
            mine = [
                row
                for row in measured
                if (row["env"], row["objective"]) == (env, objective) and task in (None, int(row["task"]))
            ]
            right = sum(bool(row["right"]) for row in mine)
            found += [f"{right}/{len(mine)}", f"{median(row['cpu_seconds'] for row in mine):.2f}"]
        return found

    rows = [[f"{number}: `{task}`", *cells(number)] for number, task in enumerate(TASKS, 1)]
    heads = ["task", "map, EM", "CPU s", "map, gradient", "CPU s", "image, EM", "CPU s"]
    return drawn(heads, [*rows, ["all", *cells(None)]])


def terminal() -> str | None:
    """Rewards at the end of an episode beside rewards at every step."""
    found = summary("terminal-rewards")
    if found is None:
        return None
    columns = [(method, reward) for method in ("rm", "nrm") for reward in ("distance", "terminal")]
    rows = [
        [
            f"{number}: `{task}`",
            *(cell(found, [f"{number} {method} {reward}"], Column("", "test")) for method, reward in columns),
            cell(found, [f"{number} nrm terminal"], Column("", "grounding", form=percent)),
        ]
        for number, task in enumerate(TASKS, 1)
    ]
    return drawn(["task", "RM", "RM, at the end", "NRM", "NRM, at the end", "grounding, at the end"], rows)


def noisy_labels(score: str) -> str | None:
    """A score of each method over the noise of a detector."""
    found = summary("noisy-labels")
    if found is None:
        return None
    names = {
        "RM, given the true state": "rm",
        "naive": "naive",
        "independent belief": "independent-belief",
        "NRM, corrects the detector": "nrm",
        "state prediction": "state-prediction",
        "RNN": "rnn",
    }
    noise, column = ("0.0", "0.1", "0.2", "0.3"), Column("", score, form=whole if score == "return" else percent)
    rows = [
        [text, *(cell(found, [f"{one} {name}"], column) for one in (noise[:1] * 4 if name == "rm" else noise))]
        for text, name in names.items()
    ]
    return drawn(["method", *(f"noise {one}" for one in noise)], [row for row in rows if any(row[1:])])


def recordings() -> str | None:
    """Event detectors from judged recordings."""
    found = summary("recordings")
    if found is None:
        return None
    columns = [
        Column("steps right", "accuracy", form="{:.3f}".format),
        Column("up to classes", "accuracy_modulo", form="{:.3f}".format),
        Column("verdicts right", "verdicts", form="{:.3f}".format),
        Column("CPU s", "cpu_seconds", form="{:.1f}".format),
    ]
    cases = {tuple(row[name] for name in RECORDED) for row in rows_of("recordings")}
    rows = [
        [data, str(rules), f"{count:,}", method, *(cell(found, [" ".join(map(str, case))], one) for one in columns)]
        for case in sorted(cases, key=recorded)
        for data, rules, count, method, _ in [case]
        if count in MAIN
    ]
    return drawn(["data", "rules", "sessions", "from", *(column.heading for column in columns)], rows)


def recordings_by_number() -> str | None:
    """Steps that event detectors name right, up to classes, by the number of recordings."""
    found = summary("recordings")
    if found is None:
        return None
    cases = {tuple(row[name] for name in RECORDED) for row in rows_of("recordings") if row["case"] == "mixed"}
    counts = sorted({case[2] for case in cases if case[0] in SIZED})
    right = Column("", "accuracy_modulo", form=success)
    groups = {(data, rules, method) for data, rules, _, method, _ in cases if data in SIZED and method in LEARNED}
    rows = [
        [
            data,
            str(rules),
            method,
            *(cell(found, [f"{data} {rules} {count} {method} mixed"], right) for count in counts),
        ]
        for data, rules, method in sorted(groups, key=lambda one: (SIZED.index(one[0]), one[1], LEARNED.index(one[2])))
    ]
    return drawn(["data", "rules", "from", *(f"{count:,}" for count in counts)], rows)


RECORDED = ("data", "rules", "recordings", "method", "case")
SIZED = ("motions", "digits-5")
LEARNED = ("verdicts", "rewards", "labels")
MAIN = (600, 1500, 1800, 2000)
"""Numbers of recordings in the main table."""


def recorded(case: tuple[Any, ...]) -> tuple[Any, ...]:
    """Where a case stands: the hard one last."""
    data, rules, count, method, mixing = case
    order = ("verdicts", "rewards", "labels", "lstm")
    return (
        mixing != "mixed",
        ("motions", "vowels", "digits-5", "digits-10").index(data),
        rules,
        method not in order,
        count,
        (order.index(method) if method in order else method),
    )


def continuous() -> str | None:
    """Continuous environments such as users write."""
    found = summary("continuous")
    if found is None:
        return None
    names = sorted({group.split(" ", 1)[1] for group in found if " " in group})
    columns = [
        Column("success", "success", form=percent),
        Column("worst seed", "success", "min", percent),
        Column("best actions", "greedy_success", form=percent),
        Column("symbols right", "grounding", form=percent),
        Column("seeds", "success", "runs", whole),
        Column("CPU s", "cpu_seconds", form=whole),
    ]
    rows = [
        [name, method.upper(), *(cell(found, [f"{method} {name}"], column) for column in columns)]
        for name in names
        for method in ("rm", "nrm")
        if f"{method} {name}" in found
    ]
    return drawn(["environment", "method", *(column.heading for column in columns)], rows, left=2)


def shortcuts() -> str | None:
    """Ways to count shortcuts."""
    if summary("shortcuts") is None:
        return None
    measured = [row for row in rows_of("shortcuts") if row["kind"] == "paper"]
    names = {
        "closed form": "closed form",
        "Algorithm 1 as printed": "Algorithm 1",
        "Algorithm 1, tuned by us": "tuned",
        "brute force over machines": "brute force",
    }
    rows = []
    for text, score in names.items():
        ratios = [row[f"{score}, ratio"] for row in measured]
        time = median(row[score] for row in measured)
        spread = "" if score == "closed form" else f"{min(ratios):,.0f} to {max(ratios):,.0f}"
        rows.append([text, f"{time:.3g}", f"{median(ratios):,.0f}", spread])
    return drawn(["method", "ms, median", "times the closed form, median", "range"], rows)


def groundability() -> str | None:
    """The paper's table of shortcuts."""
    found, published = summary("shortcuts"), summary("published")
    if found is None or published is None:
        return None
    rows = []
    for number, task in enumerate(TASKS, 1):
        mine = [row for row in rows_of("shortcuts") if row["kind"] == "paper" and int(row["task"]) == number]
        first, second = (published[name]["seconds"][number - 1] for name in ("Algorithm 1", "brute force"))
        ours = [f"{median(row[name] for row in mine):,.3g}" for name in ("closed form", "Algorithm 1", "brute force")]
        rows.append([f"{number}: `{task}`", f"{mine[0]['count']:.0f}", *ours, f"{first:.3g}", f"{second:.1f}"])
    heads = ["task", "shortcuts", "closed form, ms", "Algorithm 1, ms", "brute force, ms"]
    return drawn([*heads, "paper: Algorithm 1, s", "paper: brute force, s"], rows)


def layouts() -> str | None:
    """Many tasks from images of randomised layouts."""
    columns = [
        Column("success on the eight tasks", "success", form=success),
        Column("worst seed", "success", "min", success),
        Column("on 200 longer ones", "longer", form=success),
        Column("steps", "frames", form=whole),
        Column("CPU s", "cpu_seconds", form=whole),
    ]
    return by_method("drawn-tasks", *columns)


def fuzzed() -> str | None:
    """What mutated inputs came to."""
    if not (RELIABILITY / "fuzz.json").exists():
        return None
    found = json.loads((RELIABILITY / "fuzz.json").read_text())
    keys = ("inputs", "targets", "read", "refused", "foreign", "slow", "CPU s")
    return _marked_down(list(keys), [[f"{found[key]:,}" for key in keys]])


def faulty() -> str | None:
    """What kills and full disks came to, by what was killed."""
    if not (RELIABILITY / "faults.json").exists():
        return None
    found = json.loads((RELIABILITY / "faults.json").read_text())
    keys = ("kills", "full disks", "read-only disks", "foreign errors", "other bytes", "cannot go on")
    rows = [[name, *(f"{counts.get(key, 0):,}" for key in keys)] for name, counts in found.items()]
    return _marked_down(["subject", *keys], rows)


def _marked_down(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def infinite_tasks() -> str | None:
    """Rounds of infinite tasks beside published accepting visits."""
    found, rows = summary("infinite-tasks"), []
    for task, agent in dict.fromkeys(
        (row["task"], row["agent"]) for row in rows_of("infinite-tasks") if "rounds" in row
    ):
        steps, published, visits, rounds, violated = (
            found[task][name]["mean"] for name in ("steps", "published", "accepting_visits", "rounds", "violation_rate")
        )
        env = {"letter": "LetterWorld", "flat": "FlatWorld"}[agent]
        figures = f"{steps:.0f}", f"{published:g}", f"{visits:.1f}", f"{rounds:.2f}", percent(violated)
        rows.append([env, f"`{task}`", *figures])
    published = "visits, published"
    return drawn(["", "formula", "steps", published, "visits here", "rounds", "violations"], rows, left=2)


def infinite_drift() -> str | None:
    """How often the most probable state is the true one, along an episode."""
    rows = [
        [*row["task"].split(", "), *(f"{row[place]:.3f}" for place in ("first", "fifth", "tenth"))]
        for row in rows_of("infinite-tasks")
        if "states" in row
    ]
    return drawn(["agent", "belief", "first", "fifth", "tenth"], rows, left=2)


def office() -> str | None:
    """Tabular methods for reward machines beside the optimal policy."""
    found, others = summary("office"), summary("published")
    if found is None or others is None:
        return None
    published = others["reward machines, office"]
    columns = [
        Column("in training", "training", "median", form="{:.2f}".format),
        Column("afterwards", "greedy", form="{:.2f}".format),
        *(Column(task, task, form="{:.2f}".format) for task in ("coffee", "mail", "both", "visit")),
    ]
    rows = [
        [method, *(cell(found, [method], column) for column in columns), f"{published.get(method, '')}"]
        for method in found
        if method != "derived"
    ]
    return drawn(["method", *(column.heading for column in columns), "published"], rows)


TABLES: dict[str, Callable[[], str | None]] = {
    "infinite-tasks": infinite_tasks,
    "infinite-drift": infinite_drift,
    "patrol": patrol,
    "map-test": lambda: single("single-map", "test"),
    "map-area": lambda: single("single-map", "area"),
    "image-test": lambda: single("single-image", "test"),
    "layouts-4": lambda: single("single-drawn-4", "test"),
    "layouts-6": lambda: single("single-drawn-6", "test"),
    "layouts": layouts,
    "letter-world": letter_world,
    "letter-world-sets": letter_world_sets,
    "flat-world": flat_world,
    "zones": zones,
    "flat-tuning": flat_tuning,
    "hidden-symbols": hidden_symbols,
    **{f"noisy-labels-{score}": partial(noisy_labels, score) for score in ("success", "return", "states")},
    "office": office,
    "grounding": grounding,
    "recordings": recordings,
    "recordings-by-number": recordings_by_number,
    "terminal": terminal,
    "continuous": continuous,
    "shortcuts": shortcuts,
    "groundability": groundability,
    "fuzz": fuzzed,
    "faults": faulty,
}
"""What makes each table."""


def filled(text: str) -> str:
    """A page with its tables."""

    def table(found: re.Match[str]) -> str:
        made = TABLES[found[2]]()
        return found[0] if made is None else f"{found[1]}\n{made}\n{found[3]}"

    return MARKED.sub(table, text)


def main() -> int:
    """Write, or compare."""
    stale = []
    for path in sorted(PAGES.rglob("*.md")):
        text = path.read_text()
        if (new := filled(text)) != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(new)
    print("\n".join(stale) or "nothing to change")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
