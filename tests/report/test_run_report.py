"""What `devfix run` says of a run."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import jsonschema
import pytest
from json_schemas import closed
from sample_report import HOSTILE, failure, lines, place, run

from devfix.model import Outcome, Run, ScopeVariable, Transfer
from devfix.report.render.machine_readable.json import dump, run_schema
from devfix.report.render.terminal.devices import size
from devfix.report.render.terminal.run import run_record, run_text


def module(expression: str, *tensors: tuple[str, int]) -> ScopeVariable:
    device = "" if not tensors else tensors[0][0] if len(tensors) == 1 else "mixed"
    return ScopeVariable(expression, "module", device, "Linear", tensors=tensors)


def sample(text: str = "") -> Run:
    return replace(
        run(text),
        failure=failure("Expected all tensors " + text),
        modules=(
            module("model" + text, ("cpu", 1), ("cuda:0", 4)),
            module("model.layers[0]" + text, ("cuda:0", 4)),
            module("model.layers[0].head", ("cuda:0", 2)),
            module("other", ("cpu", 2)),
            module("model.mask", ("cpu", 1)),
        ),
        transfers=(
            Transfer(place("train.py", 4), "to-device", 2, 3_000_000),
            Transfer(place("train.py", 3), "to-host", 700, 2800),
        ),
        internal_errors=("a trace was torn " + text,) if text else (),
    )


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_the_record_is_all_described(text: str) -> None:
    data = run_record(sample(text), "python train.py", lines)
    read = json.loads(dump(data))
    jsonschema.validate(read, closed(copy.deepcopy(run_schema())), jsonschema.Draft202012Validator)
    assert read["failure"]["at"]["source"] == "model(x)"
    assert read["transfers"][1]["count"] == 700


def test_a_clean_run_has_nothing_to_add() -> None:
    clean = replace(run(outcome=Outcome.CLEAN), exit_code=0)
    assert run_text(run_record(clean, "python train.py")) == ""


def test_a_failure_of_another_kind_is_no_device_failure() -> None:
    other = replace(run(outcome=Outcome.OTHER), failure=replace(failure(), kind="other"))
    assert run_text(run_record(other, "python train.py")) == ""


def test_a_failure_is_diagnosed() -> None:
    words = run_text(run_record(sample(), "python train.py", lines))
    assert words.startswith("\nDevice failure on a simulated GPU at train.py:4\n> model(x)\n")
    assert "created at train.py:3   x = torch.ones(2, 16)" in words
    assert "devfix repair" in words
    assert "Modules" not in words


def test_the_map_nests_modules_and_sorts_copies() -> None:
    words = run_text(run_record(sample(), "python train.py", lines), with_map=True)
    rows = [line for line in words.splitlines() if "Linear" in line]
    assert rows == [
        "model Linear  cpu (1), cuda:0 (4)",
        "├── model.layers[0] Linear  cuda:0 (4)",
        "│   └── model.layers[0].head Linear  cuda:0 (2)",
        "└── model.mask Linear  cpu (1)",
        "other Linear  cpu (2)",
    ]
    copies = [" ".join(line.split()) for line in words.splitlines() if " to-" in line]
    assert copies == [
        "700 2.7 KiB to-host train.py:3 x = torch.ones(2, 16)",
        "2 2.9 MiB to-device train.py:4 model(x)",
    ]


def test_source_lines_of_copies_are_shown() -> None:
    words = run_text(run_record(sample(), "python train.py", lines), with_map=True)
    assert "train.py:3  x = torch.ones(2, 16)" in words


@pytest.mark.parametrize("color", [False, True])
def test_a_run_drives_no_terminal(color: bool) -> None:
    words = run_text(run_record(sample(HOSTILE), "python " + HOSTILE, lines), with_map=True, color=color)
    assert "\x1b[2J" not in words
    assert "\x07" not in words
    assert "\u202e" not in words


def test_sizes_are_readable() -> None:
    assert [size(count) for count in (0, 1023, 1024, 3_250_585, 5 * 1024**4)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "3.1 MiB",
        "5.0 TiB",
    ]


def test_the_last_words_are_the_command_that_repairs_it() -> None:
    seen = replace(sample(), transfers=(), modules=())
    assert "To repair it: devfix repair --run 'python train.py'\n" in run_text(run_record(seen, "python train.py"))
    two = replace(seen, world=replace(seen.world, gpus=2))
    assert "devfix repair --gpus 2 --run" in run_text(run_record(two, "python train.py"))
