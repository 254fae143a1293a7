"""Operators that PyTorch runs for itself while it is imported are none of the program's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import devfix.probe

pytestmark = pytest.mark.slow

ENTRY = Path(devfix.probe.__file__).parent / "entry"
PROGRAM = """
import sys, torch
imports = __import__("devfix probe.provenance.imports", fromlist=["imports"])
if sys.argv[1] == "before":
    import late
imports.NAME = "late"
imports.install()
import late
records = __import__("devfix probe.provenance.records", fromlist=["records"])
print(records.operations())
"""


def counted(folder: Path, when: str) -> int:
    order = {"world": {"kind": "simulated", "gpus": 1, "current": 0}, "traces": os.devnull}
    path = os.pathsep.join((str(ENTRY), str(folder)))
    environment = {**os.environ, "DEVFIX_PROBE": json.dumps(order), "PYTHONPATH": path}
    command = [sys.executable, str(folder / "program.py"), when]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_what_an_import_runs_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "late.py").write_text("import torch\nx = torch.ones(2)\nfor _ in range(7):\n    x = x + 1\n", "utf-8")
    assert counted(tmp_path, "before") - counted(tmp_path, "watched") == 8
