"""A search with two findings: one that raises, and a silent one."""

from __future__ import annotations

from typing import Any

from devfix.find.records import Cause, Evidence, FindReport
from devfix.find.report import find_record
from devfix.model import Failure, Frame, Operand, SourceLocation
from devfix.report.find_types import FindRecord
from devfix.report.source_lines import no_lines

MADE, FAILING = (SourceLocation("lib/a.py", line, "shifted", owned=True) for line in (5, 6))
FAILURE = Failure(
    "device-mismatch",
    "RuntimeError",
    "Expected all tensors to be on the same device",
    "aten::add",
    frames=(Frame(FAILING),),
    operands=(Operand("self", "cuda:0", "torch.float32", (2,)), Operand("other", "cpu", "torch.float32", (2,))),
)
RAISES = Cause(
    "raises",
    MADE,
    FAILING,
    "placement/factory-without-device",
    "A factory without a device",
    FAILURE,
    (),
    ("tests/test_a.py::test_it", "tests/test_a.py::test_other"),
    ("cuda:0", "cuda:1"),
    True,
    "high",
)
SILENT = Cause(
    "result-on-host",
    MADE,
    MADE,
    "",
    "It leaves its result",
    None,
    (),
    ("tests/test_a.py::test_x",),
    ("cuda:0",),
    evidence=Evidence("shifted", SourceLocation("lib/a.py", 3, "shifted")),
)


def record(**changes: Any) -> FindRecord:
    given: dict[str, Any] = {"tests": 4, "passed_cpu": 3, "passed_lifted": 1, "causes": (RAISES, SILENT)}
    given |= {"seconds": {"total": 3.0}, "failed_cpu": ("tests/test_a.py::test_broken",)}
    return find_record(FindReport("/repo", "abc", **{**given, **changes}), no_lines)
