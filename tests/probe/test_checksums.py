"""Checksums of values, whatever device the program has made the default one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from devfix.probe.counters import checksums


@pytest.mark.parametrize("size", [3, 3 * checksums.MOST])
def test_a_default_device_changes_no_checksum(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(checksums, "_weights", [])
    values = torch.linspace(1.0, 2.0, size)
    with torch.device("meta"):
        weighed, number = checksums.weigh(values), checksums.weigh(2)
    assert weighed is not None and weighed == checksums.weigh(values)
    assert number is not None and number == checksums.weigh(2)


@pytest.mark.parametrize(("given", "same"), [("weight", True), ("weight * 2", False), ("weight - 5", False)])
def test_what_fails_as_addmm_may_run_as_a_linear_layer(monkeypatch: pytest.MonkeyPatch, given: str, same: bool) -> None:
    weight, x, bias = torch.arange(12.0).reshape(3, 4), torch.ones(2, 4), torch.ones(3)
    wanted = [checksums.weigh(each) for each in (bias, x, weight.t())]
    monkeypatch.setattr(checksums, "_given", [each for each in wanted if each is not None])
    passed = eval(given, {"weight": weight})
    assert checksums.are_given(torch.ops.aten.linear.default, (x, passed, bias), {}) is same


PROGRAM = """
import sys, torch
records = sys.modules["devfix probe.provenance.records"]
x = torch.ones(3, device="cuda")
before = records.operations()
y = torch.zeros(3, device="cuda").index_add_(0, torch.tensor([0, 1, 2], device="cuda"), x, alpha=2)
print(records.operations() - before)
"""
PROBE = Path(checksums.__file__).parents[1]


@pytest.mark.slow
def test_looking_for_values_adds_no_operator(tmp_path: Path) -> None:
    """A patch by which a program fails after fewer operators is rejected, so all runs count alike."""
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")

    def counted(**more: object) -> str:
        world = {"kind": "simulated", "gpus": 1, "current": 0}
        order = {"world": world, "traces": str(tmp_path), "owned": str(tmp_path), "original": str(tmp_path), **more}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DEVFIX")}
        given = {**kept, "DEVFIX_PROBE": json.dumps(order), "PYTHONPATH": str(PROBE / "entry")}
        command = [sys.executable, "program.py"]
        return subprocess.run(command, cwd=tmp_path, env=given, check=True, capture_output=True, text=True).stdout

    reach = [{"path": str(tmp_path / "program.py"), "line": 6}]
    assert counted(reach=reach, given=[[1.0, 1.0]]) == counted(reach=reach) == counted()
