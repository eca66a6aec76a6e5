"""Machines as Graphviz DOT: edges merged per pair of states with readable guards, rewards as colours."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import Any

import numpy as np

from nrm.errors import FileError, MachineError, require
from nrm.logic import parse
from nrm.machines.alphabet import Alphabet
from nrm.machines.guards import Move, machine_of_moves, moves
from nrm.machines.moore import MooreMachine


def to_dot(machine: MooreMachine, title: str = "", output: Callable[[float], str] = "{:.4g}".format) -> str:
    """The machine as DOT text. `from_dot` reads it back. `output`: how the output of a state is written."""
    alphabet = machine.alphabet
    lines = [
        "digraph machine {",
        f"  graph [rankdir=LR, nrm_kind={_quote(alphabet.kind)}, nrm_symbols={_quote(','.join(alphabet.symbols))}"
        + (f", nrm_letters={_quote(','.join(map(str, alphabet.occurring)))}" if alphabet.occurring else "")
        + (f", label={_quote(_wrapped(title, 72))}, labelloc=t" if title else "")
        + ', fontname="Helvetica", fontsize=13, pad=0.2];',
        '  node [shape=circle, style=filled, fontname="Helvetica", fontsize=11, fixedsize=true, width=0.72];',
        '  edge [fontname="Helvetica", fontsize=10, arrowsize=0.7];',
        '  start [shape=none, label="", width=0.1, height=0.1, style=""];',
        f"  start -> q{machine.initial};",
    ]
    largest = float(np.abs(machine.outputs).max()) or 1.0
    for state in range(machine.states):
        level = float(machine.outputs[state])
        shape = "doublecircle" if machine.accepting[state] else "circle"
        share = level / largest
        text = "#FFFFFF" if share < -0.6 else "#000000"
        lines.append(
            f'  q{state} [label="{state}\\n{output(level)}", shape={shape}, fillcolor="{colour(share)}", '
            f'fontcolor="{text}", nrm_output="{level!r}"];'
        )
    for source in range(machine.states):
        for target, condition in moves(machine, source):
            label = _wrapped(str(condition))
            lines.append(f"  q{source} -> q{target} [label={_quote(label)}, nrm_guard={_quote(str(condition))}];")
    return "\n".join([*lines, "}"]) + "\n"


def from_dot(text: str) -> MooreMachine:
    """Read back what `to_dot` wrote."""
    try:
        graph: Any = graphviz().AGraph(string=text)
    except (ValueError, OSError, graphviz().DotError) as error:
        raise FileError(f"this is not DOT text: {str(error).strip().splitlines()[0]}") from None
    attributes = dict(graph.graph_attr)
    kind, symbols = attributes.get("nrm_kind"), attributes.get("nrm_symbols")
    if not kind or not symbols:
        raise MachineError("the DOT text lacks nrm_kind and nrm_symbols; only DOT written by nrm can be read back")
    occurring = attributes.get("nrm_letters")
    sets = tuple(map(int, occurring.split(","))) if occurring else None
    alphabet = Alphabet.of_kind(symbols.split(","), kind, sets)
    names = [name for name in graph.nodes() if name != "start"]
    count = len(names)
    if set(names) != {f"q{state}" for state in range(count)}:
        raise MachineError(f"the states must be q0 to q{count - 1}, not {', '.join(sorted(names))}")
    nodes = [graph.get_node(f"q{state}") for state in range(count)]
    guarded: list[list[Move]] = [[] for _ in range(count)]
    initial = 0
    for edge in graph.edges():
        if edge[1] == "start":
            raise MachineError(f"an edge leads from {edge[0]} to the mark of the start")
        target = int(edge[1][1:])
        if edge[0] == "start":
            initial = target
            continue
        condition = edge.attr["nrm_guard"]
        if not condition:
            raise MachineError(f"the edge from {edge[0]} to {edge[1]} lacks nrm_guard, the guard without line breaks")
        source = int(edge[0][1:])
        guarded[source].append((parse(condition), target))
    accepting = [node.attr["shape"] == "doublecircle" for node in nodes]
    try:
        outputs = [float(node.attr["nrm_output"] or "") for node in nodes]
    except ValueError:
        raise MachineError("a state lacks nrm_output, its potential as a number") from None
    return machine_of_moves(alphabet, guarded, accepting, outputs, initial, name="q{}".format)


def graphviz() -> Any:
    """The pygraphviz module, or an error that says how to get it."""
    return require("pygraphviz", "pictures need pygraphviz", "draw", " (text, JSON and DOT work without it)")


def colour(share: float) -> str:
    """A fill colour for a potential, as a share of the largest: orange for -1, white for 0, blue for 1."""
    end = (94, 148, 201) if share >= 0 else (230, 97, 1)  # the ends of a colour-blind-safe scale
    mixed = (round(247 + (part - 247) * abs(share)) for part in end)
    return "#" + "".join(f"{part:02X}" for part in mixed)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _wrapped(text: str, width: int = 18) -> str:
    """A long guard in several lines, the first ones of many."""
    lines = wrap(text, width, max_lines=6, placeholder=" …", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)
