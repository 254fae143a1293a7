"""Records with a value in every member, plain or hostile, for the HTML pages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
from sample_report import lines, report

from devfix.model import Lack, Obstacle, OtherRun, Others, Outcome, ScopeVariable, SourceLocation, Transfer
from devfix.report.find_types import FindRecord
from devfix.report.fleet_types import FleetRecord
from devfix.report.record import record
from devfix.report.render.machine_readable.json import dump
from devfix.report.suite_types import SuiteRecord
from devfix.report.types import (
    BeforeAfter,
    DependencyFaultRecord,
    EditRecord,
    GpusNeededRecord,
    RegressionTestRecord,
    ReportRecord,
)

HTML = "\"'><img src=x onerror=alert(1)><script>alert(2)</script></pre>{{7*7}}\x1b[2J\u202e"
DIFF = """--- a/train.py
+++ b/train.py
@@ -1,2 +1,2 @@
 import torch
-x = model(x)  # why
+x = model(x.to('cuda'))
"""
Kind = TypeVar("Kind", ReportRecord, FindRecord, SuiteRecord, FleetRecord)


def full_report() -> ReportRecord:
    """Return a report with something in every part of its page."""
    before, after = (
        replace(
            report().last_run,  # type: ignore[type-var]
            modules=(
                ScopeVariable("model", "module", "mixed", "Net", tensors=(("cpu", 1), ("cuda:0", 2))),
                ScopeVariable("model.head", "module", device, "Linear", tensors=((device, 2),)),
                ScopeVariable("model.head[0]", "module", "cuda:1", "Linear", tensors=(("cuda:1", 2),)),
            ),
            transfers=(Transfer(SourceLocation("train.py", 3, "main", owned=True), "to-device", count, 1024),),
        )
        for device, count in (("cpu", 8), ("cuda:0", 2))
    )
    ran = OtherRun("python eval.py", "script", "cpu", Outcome.CLEAN, Outcome.CLEAN, "as before")
    others = Others(120, (ran,), (("python slow.py", "it takes too long"),))
    data = record(replace(report(), mapped=(before, after), others=others), lines)
    edit = EditRecord(path="train.py", line=2, diff=DIFF)
    test = RegressionTestRecord(
        path="tests/test_train.py", text="def test_it() -> None: ...\n", exercises="main()", passes_after_fix=0,
        worlds={"cuda x1": BeforeAfter(before="failed", after="clean")},
    )  # fmt: skip
    fault = DependencyFaultRecord(
        distribution="lib", version="1", path="lib/a.py", line=3, reason="it forgets", diff=DIFF, pin="2",
        pin_edits=(edit,),
    )  # fmt: skip
    return replace(
        data,
        fixes=(replace(data.fixes[0], edits=(edit,), regression_test=test, similar_sites=(edit,)),),
        dependency_fault=fault,
        not_applied="train.py: has uncommitted changes",
        applied=("train.py",),
        gpus_needed=GpusNeededRecord(given=1, needed=2, reason="cuda:1", met=True),
        obstacle=Obstacle(Lack.FILE, "no data", "download it"),
    )


def hostile(data: Kind) -> Kind:
    """Return a record in which each string that may be anything is hostile."""
    content = json.loads(dump(data))
    for holder, key in list(_strings(content)):
        plain = holder[key]
        holder[key] = plain + HTML
        try:
            msgspec.convert(content, type(data))
        except msgspec.ValidationError:
            holder[key] = plain
    return msgspec.convert(content, type(data))


def _strings(value: Any) -> Any:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, str):
            yield value, key
        elif isinstance(inner, dict | list):
            yield from _strings(inner)
