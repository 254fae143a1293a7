"""Constructors take their arguments by keyword on a simulated GPU as anywhere else."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent / "constructors.py"


@cache
def outcome() -> dict[str, Any]:
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_all_constructors_take_all_arguments_by_keyword() -> None:
    assert outcome()["wrong"] == {}


@pytest.mark.slow
def test_every_operator_that_makes_a_tensor_on_a_device_is_tried() -> None:
    assert outcome()["missing"] == []
