"""A detector for other programs, and what to say of it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from nrm.errors import LearningError, listing, require
from nrm.files import make_folder, write_bytes
from nrm.machines import TaskSet

if TYPE_CHECKING:
    from nrm.detectors.detector import EventDetector


def export_grounder(path: Path, grounder: nn.Module, shape: tuple[int, ...], tasks: TaskSet) -> Path:
    """Write a grounder with the symbols that it names and the rules that it was learned from."""
    about = {"symbols": json.dumps(tasks.alphabet.symbols), "rules": json.dumps(tasks.names)}
    example = torch.zeros(2, *shape)
    make_folder(path.parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # exporters speak of their own future
        if path.suffix == ".pt":
            traced = torch.jit.trace(grounder.eval(), example)  # type: ignore[no-untyped-call]
            torch.jit.save(traced, str(path), _extra_files=about)
            return path
        if path.suffix != ".onnx":
            raise LearningError(f"a detector is exported to .onnx or .pt, not to '{path.name}'")
        onnx = require("onnx", "ONNX files need onnx and onnxscript", "onnx")
        require("onnxscript", "ONNX files need onnx and onnxscript", "onnx")
        steps = torch.export.Dim("steps", min=1)
        program = torch.onnx.export(
            grounder.eval(),
            (example,),
            input_names=["observations"],
            output_names=["probabilities"],
            dynamic_shapes=({0: steps},),
            dynamo=True,
            verbose=False,
        )
        assert program is not None
        model = program.model_proto
        onnx.helper.set_model_props(model, about)
        write_bytes(path, model.SerializeToString())
    return path


def model_card(detector: EventDetector) -> str:
    """A model card in Markdown."""
    tasks = detector.model_.machine.known()
    grounder = type(detector.model_.grounder).__name__
    lines = [
        "# Event detector",
        "",
        f"Names one of {listing(tasks.alphabet.symbols)} at each step of a recording ({grounder}).",
        "",
        "## Rules",
        *(f"- `{rule}`" for rule in tasks.names),
    ]
    if hasattr(detector, "coverage_"):
        found = detector.coverage_
        lines += [
            "",
            "## Data",
            *(f"- `{rule}`: {yes} recordings pass, {no} fail" for rule, yes, no in found.recordings),
        ]
        lines += ["", "## What the data cannot teach", *(f"- {one}" for one in (*found.shortcuts, *found.weak))]
        lines += [] if found.shortcuts or found.weak else ["- nothing: all symbols are separated"]
        lines += ["", "## Quality", f"- verdicts of held-out recordings judged right: {detector.held_out_score_:.3f}"]
        record = detector.record_
        lines += [f"- restarts: {len(record.attempts)}, least held-out loss {record.best.held_out:.4f} nats a step"]
    return "\n".join(lines) + "\n"
